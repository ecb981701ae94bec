/**
 * How many files a call runs through: what docs/architecture.md says of it is measured. A file counts if one of its functions
 * runs for every call, and not as often in as long a time without calls.
 */
import { assert, it } from "@effect/vitest"
import { Effect, Redacted, Schedule } from "effect"
import { existsSync, readFileSync } from "node:fs"
import { join, relative } from "node:path"
import { fileURLToPath } from "node:url"
import { StripeDouble } from "../../testing/stripe/StripeDouble.ts"
import { freePort } from "../support/servers/FreePort.ts"
import { aFundedConsumer, loadMarket, OPEN_TO_LOAD } from "../support/load/LoadMarket.ts"
import { modernCall } from "../support/mcp/ModernClient.ts"
import { fine, providing } from "../support/metering/Provider.ts"
import { PostgresTest } from "../support/servers/PostgresTest.ts"
import { json, MAIN, post, ready, temporaryFolder } from "../support/servers/ServiceProcess.ts"

const ROOT = join(import.meta.dirname, "../..")
const CALLS = 40
/** Timers tick once more in one span than in the other. */
const SHARE_MIN = 0.75
const WARM_UP = 5
const FILES_OFF_MAX = 6
const LINES_OFF_MAX = 0.1
const DOCUMENT = readFileSync(join(ROOT, "docs/architecture.md"), "utf8")
const CENTS = 500

/** A function by file and place, and how often it ran. */
type Counts = ReadonlyArray<readonly [url: string, at: number, count: number]>

const linesOf = (file: string): number => readFileSync(join(ROOT, file), "utf8").split("\n").length - 1

/** The files with a function that ran for each of the calls, and their lines. What runs by the clock runs in both spans. */
const walkOf = (idle: Counts, busy: Counts) => {
  const before = new Map(idle.map(([url, at, count]) => [`${url} ${at}`, count]))
  const urls = busy
    .filter(([url, at, count]) => count - (before.get(`${url} ${at}`) ?? 0) >= CALLS * SHARE_MIN)
    .map(([url]) => url)
  const files = [...new Set(urls)].map((url) => relative(ROOT, fileURLToPath(url))).toSorted()
  return { files, lines: files.map(linesOf).reduce((sum, lines) => sum + lines, 0) }
}

/** A service that counts its functions, with a tool and a consumer; every event of Stripe waits until it is asked for. */
const measured = Effect.gen(function* () {
  const { url: database } = yield* PostgresTest
  const port = yield* freePort
  const url = `http://127.0.0.1:${port}`
  const double = yield* Effect.acquireRelease(
    Effect.promise(() =>
      StripeDouble.start({
        secretKey: "sk_test_double",
        webhookSecret: "whsec_double",
        webhookUrl: `${url}/api/webhooks/stripe`
      })
    ),
    (started) => Effect.promise(() => started.stop())
  )
  const counts = join(yield* temporaryFolder, "counts")
  const settings = {
    ...OPEN_TO_LOAD,
    PORT: String(port),
    DATABASE_URL: Redacted.value(database),
    RECEIPT_SIGNING_SECRET: "the secret of the service that is measured",
    LOG_SIGNING_KEY: "f1ee7000".repeat(8),
    LOG_LEVEL: "Warn",
    PAYMENTS: "stripe",
    STRIPE_API_BASE: double.url,
    STRIPE_SECRET_KEY: "sk_test_double",
    STRIPE_WEBHOOK_SECRET: "whsec_double",
    COUNTS_FILE: counts,
    NODE_OPTIONS: `--import=${join(ROOT, "test/support/walks/countFunctions.ts")}`
  }
  // Files are counted.
  const { child } = yield* ready(settings, { command: [process.execPath, MAIN, "serve"] })
  let taken = 0
  /** What ran since it was asked last. */
  const ran = Effect.promise(async (): Promise<Counts> => {
    const file = `${counts}.${++taken}`
    child.kill("SIGUSR2")
    while (!existsSync(file)) await new Promise((go) => setTimeout(go, 20))
    return JSON.parse(readFileSync(file, "utf8")) as Counts
  })
  const credited = (key: string, cents: number) =>
    json(`${url}/api/v1/market/balance`, { headers: { authorization: `Bearer ${key}` } }).pipe(
      Effect.repeat({ until: ({ body }) => body["balance_cents"] === cents, schedule: Schedule.spaced("50 millis") })
    )
  const logged = (size: number) =>
    Effect.promise(() => fetch(`${url}/api/v1/market/log/checkpoint`).then((response) => response.text())).pipe(
      Effect.repeat({
        until: (text) => Number(text.split("\n")[1]) >= size,
        schedule: Schedule.spaced("200 millis")
      })
    )
  return { double, ran, url, credited, logged }
})

/** What runs for each of the calls; some run before, so that the first of each kind is not among them. */
const walk = Effect.fnUntraced(function* (
  ran: Effect.Effect<Counts>,
  call: (n: number) => Effect.Effect<unknown>,
  end: Effect.Effect<unknown> = Effect.void
) {
  yield* Effect.forEach(
    Array.from({ length: WARM_UP }, (_, n) => -1 - n),
    call
  )
  yield* end
  yield* ran
  const startedAt = performance.now()
  yield* Effect.forEach(
    Array.from({ length: CALLS }, (_, n) => n),
    call
  )
  yield* end
  const busy = yield* ran
  yield* Effect.sleep(Math.ceil(performance.now() - startedAt))
  return walkOf(yield* ran, busy)
})

/** The document states about what was measured: a job may or may not run meanwhile. */
const same = (title: string, { files, lines }: ReturnType<typeof walkOf>): void => {
  const row = DOCUMENT.split("\n").find((line) => line.startsWith(`| ${title}`)) ?? ""
  const [statedFiles, statedLines] = row
    .split("|")
    .slice(2, 4)
    .map((cell) => Number(cell.replaceAll(/[ ,]/gu, "")))
  const found = `${title}: ${files.length} files, ${lines} lines\n${files.join("\n")}`
  assert.closeTo(files.length, statedFiles!, FILES_OFF_MAX, found)
  assert.closeTo(lines, statedLines!, lines * LINES_OFF_MAX, found)
}

it.live(
  "a call runs through as many files as the document says",
  () =>
    Effect.gen(function* () {
      const { credited, double, logged, ran, url } = yield* measured
      const provider = yield* providing(fine)
      yield* loadMarket(url, provider, { buyers: 0 })
      const key = yield* aFundedConsumer(url, 0)
      const sessions = yield* Effect.forEach(Array.from({ length: WARM_UP + CALLS }), () =>
        Effect.map(post(`${url}/api/market/balance/load`, { amount_cents: CENTS }, key), ({ body }) =>
          String(body["session_id"])
        )
      )
      let paid = 0
      const event = yield* walk(
        ran,
        () => Effect.sync(() => double.pay(sessions[paid++]!)),
        Effect.suspend(() => credited(key, paid * CENTS))
      )
      let called = 0
      const log = Effect.suspend(() => logged(called))
      const rest = yield* walk(
        ran,
        (n) => {
          called++
          return post(`${url}/api/market/proxy`, { tool_name: "echo", input: { n } }, key)
        },
        log
      )
      const tool = yield* walk(
        ran,
        (n) => {
          called++
          return mcpCalled(url, key, n)
        },
        log
      )
      same("a proxied call", rest)
      same("a `tools/call` of an MCP client", tool)
      same("a payment event", event)
    }).pipe(Effect.scoped, Effect.provide(PostgresTest.layerDatabase)),
  300_000
)

const mcpCalled = (url: string, key: string, n: number) => {
  const asked = modernCall({ key, method: "tools/call", params: { name: "echo-works__echo", arguments: { n } } })
  return Effect.promise(async () => {
    const response = await fetch(`${url}${asked.path}`, {
      method: "POST",
      headers: { ...asked.headers, "content-type": "application/json", authorization: `Bearer ${key}` },
      body: JSON.stringify(asked.json)
    })
    const text = await response.text()
    assert.include(text, "fine")
  })
}

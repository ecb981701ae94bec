/**
 * The programs of docs/embedding.md and docs/clients.md, run as they are written.
 */
import { assert, type Vitest } from "@effect/vitest"
import { Effect, Schedule } from "effect"
import { createServer } from "node:http"
import { join } from "node:path"
import { rolldown } from "rolldown"
import { createClient } from "../../client/Client.ts"
import { browser, hasBrowser, open } from "../support/market/Browser.ts"
import { PackedPackage } from "../support/project/PackedPackage.ts"
import { programs } from "../support/project/ProgramsOfDocs.ts"
import { RawHttp } from "../support/servers/RawHttp.ts"
import { start } from "../support/servers/ServiceProcess.ts"

/** On a busy machine; a quiet one takes less than 100 ms. */
const TEST_MS_MAX = 1_000
const TRIES_MAX = 10

const placed = Effect.gen(function* () {
  const packed = yield* PackedPackage
  for (const [name, text] of programs) yield* packed.app.write(name, text)
  return packed
})

/** A service with its demo provider, and its URL. */
const MARKET = RawHttp.layer({ PAYMENTS: "dry_run", ALLOW_UPSTREAM: "loopback", DEMO_PROVIDER: "on" })

const market = Effect.map(RawHttp, ({ port }) => `http://127.0.0.1:${port}`)

export const programSuite = (it: Vitest.MethodsNonLive<PackedPackage>): void => {
  it.effect(
    "runs its core in an app with a store of its own",
    () =>
      Effect.gen(function* () {
        const { node } = (yield* placed).app
        const first = yield* node("own-store.ts")
        assert.deepStrictEqual(first, { code: 0, output: "Ada is on the list\n1 on the list, 0 consumers\n" })
        const again = yield* node("own-store.ts")
        assert.deepStrictEqual(again, { code: 0, output: "Ada was on the list already\n1 on the list, 0 consumers\n" })
      }),
    300_000
  )

  it.effect(
    "runs each market on its own, with wrapped stores and ports of its embedder",
    () =>
      Effect.gen(function* () {
        const { node } = (yield* placed).app
        for (const [program, output] of [
          ["wrapped-store.ts", "StoreUnavailable\n"],
          ["two-markets.ts", "east: 1\nalso east: 1\nwest: 0\n"],
          ["own-tools.ts", "GET /api/market/catalog: 200\n"]
        ] as const) {
          assert.deepStrictEqual(yield* node(program), { code: 0, output }, program)
        }
      }),
    300_000
  )

  it.effect(
    "signs and verifies with an asynchronous key, and scores an app's own traffic",
    () =>
      Effect.gen(function* () {
        const { node } = (yield* placed).app
        assert.deepStrictEqual(yield* node("remote-key.ts"), { code: 0, output: "ok signature_mismatch\n" })
        const { code, output } = yield* node("own-traffic.ts")
        assert.strictEqual(code, 0, output)
        assert.match(output, /^\d\d of 100, verified\n/u)
        assert.match(output, /calls: 301,/u)
        assert.include(output, "Contest unjustified disputes")
      }),
    300_000
  )

  it.effect(
    "keeps a ledger on a store of its own, which passes the contracts, and continues it at the next start",
    () =>
      Effect.gen(function* () {
        const { node } = (yield* placed).app
        const first = "[ false, true ] true 1200000n\n"
        const output = `${first}true []\n16 rules kept\n2 rules kept\n`
        for (let start = 1; start <= 2; start++) {
          assert.deepStrictEqual(yield* node("sqlite-ledger.ts"), { code: 0, output })
        }
      }),
    300_000
  )

  it.effect(
    "is mounted in an app's router below a prefix, and meters the app's own function",
    () =>
      Effect.gen(function* () {
        const { app } = yield* placed
        const { child, exit, output, problem } = yield* start([], {
          cwd: app.folder,
          command: [process.execPath, "own-router.ts"],
          settings: { PORT: "0" }
        })
        const url = yield* Effect.suspend(() => {
          const [found] = /http:\/\/127\.0\.0\.1:\d+/u.exec(output()) ?? []
          return found === undefined
            ? Effect.fail(`it does not listen: ${output()}${problem()}`)
            : Effect.succeed(found)
        }).pipe(Effect.retry(Schedule.spaced("50 millis").pipe(Schedule.upTo({ duration: "30 seconds" }))))
        const ask = (path: string, init?: RequestInit) =>
          Effect.promise(async () => {
            const response = await fetch(`${url}${path}`, init)
            return { status: response.status, app: response.headers.get("x-app"), text: await response.text() }
          })

        assert.deepStrictEqual(yield* ask("/"), { status: 200, app: "mine", text: "The app's home page" })
        assert.deepStrictEqual(yield* ask("/billing/readyz"), { status: 200, app: "mine", text: `{"status":"ok"}` })
        const huge = { method: "POST", headers: { "content-type": "application/json" }, body: " ".repeat(2_000_000) }
        assert.strictEqual((yield* ask("/billing/api/market/register-consumer", huge)).status, 413)
        assert.strictEqual((yield* ask("/nothing")).status, 404)

        const baseUrl = `${url}/billing`
        const called = yield* Effect.promise(async () => {
          const anyone = createClient({ baseUrl })
          await anyone.accounts.registerProvider({
            payload: {
              name: "The app",
              email: "app@example.org",
              handle: "own-app",
              endpoint_url: "http://127.0.0.1:9/not-called",
              tools: [{ tool_name: "shout", price_microcents: 500 }]
            }
          })
          const registered = await anyone.accounts.registerConsumer({
            payload: { name: "An agent", email: "agent@example.org" }
          })
          assert.include(JSON.stringify(registered), "https://app.example.org/billing/api/market/catalog")
          const client = createClient({ baseUrl, key: registered.api_key })
          await client.money.load({ payload: { amount_cents: 100 } })
          return client.calls.proxy({ payload: { tool_name: "own-app/shout", input: { text: "hello" } } })
        })
        assert.deepInclude(called, { result: { content: [{ type: "text", text: "HELLO" }] } })
        assert.strictEqual("meta" in called ? called.meta.cost_microcents : undefined, 500)

        child.kill("SIGTERM")
        assert.strictEqual(yield* exit, 130)
        assert.strictEqual(problem(), "")
      }),
    300_000
  )

  it.effect(
    "credits nothing with a payment processor that declines",
    () =>
      Effect.gen(function* () {
        const { code, output } = yield* (yield* placed).app.node("declining-gateway.ts")
        assert.strictEqual(code, 0, output)
        assert.match(output, /Card declined.*\n0 microcents are available\n$/u)
      }),
    300_000
  )

  it.effect(
    "calls tools by its clients, with promises and with Effect",
    () =>
      Effect.gen(function* () {
        const { node } = (yield* placed).app
        const baseUrl = yield* market
        const promised = yield* node("agent.ts", baseUrl)
        assert.strictEqual(promised.code, 0, promised.output)
        assert.match(promised.output, /^Cost: 500 microcents, receipt rcpt_\w+\nThe receipt is in the log$/mu)
        const effect = yield* node("effect-agent.ts", baseUrl)
        assert.deepStrictEqual(effect, { code: 0, output: "Add funds: the balance is 0 cents.\n" })
      }).pipe(Effect.provide(MARKET)),
    300_000
  )

  it.effect.skipIf(!hasBrowser)(
    "calls tools in a page of another origin",
    () =>
      Effect.gen(function* () {
        const { app } = yield* placed
        const baseUrl = yield* market
        const script = yield* Effect.promise(async () => {
          const bundle = await rolldown({ input: join(app.folder, "page.ts"), platform: "browser" })
          const { output } = await bundle.generate({ format: "es", minify: true })
          await bundle.close()
          return output[0].code
        })
        const host = yield* Effect.acquireRelease(
          Effect.promise(async () => {
            const server = createServer((_, response) =>
              response
                .writeHead(200, { "content-type": "text/html" })
                .end(`<!doctype html><link rel="icon" href="data:,"><script type="module">${script}</script>`)
            )
            await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
            return server
          }),
          (server) => Effect.sync(() => server.close())
        )
        const address = host.address()
        const port = typeof address === "object" ? address?.port : undefined
        const { complaints, page } = yield* open(yield* browser, `http://localhost:${port}/?market=${baseUrl}`)
        yield* Effect.promise(() => page.waitForFunction("document.title !== ''"))
        assert.strictEqual(yield* Effect.promise(() => page.title()), "Cost: 500 microcents")
        assert.deepStrictEqual(complaints, [])
      }).pipe(Effect.provide(MARKET)),
    300_000
  )

  it.effect(
    "protects a provider's server, which bills by usage up to the caller's cap",
    () =>
      Effect.gen(function* () {
        const { app } = yield* placed
        const { port } = yield* RawHttp
        const baseUrl = `http://127.0.0.1:${port}`
        yield* app.write("serve.mjs", SERVE)
        const server = yield* start([], { cwd: app.folder, command: [process.execPath, "serve.mjs"], settings: {} })
        const endpoint = yield* Effect.suspend(() =>
          /^http\S+$/mu.test(server.output())
            ? Effect.succeed(server.output().trim())
            : Effect.fail(`it does not listen: ${server.output()}${server.problem()}`)
        ).pipe(Effect.retry(Schedule.spaced("50 millis").pipe(Schedule.upTo({ duration: "30 seconds" }))))
        yield* Effect.promise(async () => {
          const anyone = createClient({ baseUrl })
          const { api_key: providerKey } = await anyone.accounts.registerProvider({
            payload: {
              name: "Words",
              email: "words@example.org",
              handle: "words",
              endpoint_url: endpoint,
              tools: [{ tool_name: "search", price_microcents: 100, max_cost_microcents: 5_000 }]
            }
          })
          const { secret } = await createClient({ baseUrl, key: providerKey }).trust.signingSecret()
          assert.strictEqual((await fetch(new URL("/secret", endpoint), { method: "POST", body: secret })).status, 204)
          assert.strictEqual((await fetch(endpoint, { method: "POST", body: "{}" })).status, 401)
          const { api_key: key } = await anyone.accounts.registerConsumer({
            payload: { name: "An agent", email: "agent@example.org" }
          })
          const client = createClient({ baseUrl, key })
          await client.money.load({ payload: { amount_cents: 100 } })
          const called = await client.calls.proxy({
            payload: { tool_name: "words/search", input: { q: "sea salt sand" }, max_cost_microcents: 250 }
          })
          assert.include(JSON.stringify(called), 'Found: sea, salt"')
          assert.strictEqual("meta" in called ? called.meta.cost_microcents : undefined, 200)
        })
      }).pipe(Effect.provide(MARKET)),
    300_000
  )

  it.effect(
    `starts a market in a test within ${TEST_MS_MAX} ms`,
    () =>
      Effect.gen(function* () {
        const { node } = (yield* placed).app
        const slowest = Effect.gen(function* () {
          const { code, output } = yield* node("in-memory.test.ts")
          assert.strictEqual(code, 0, output)
          const times = [...output.matchAll(/: (\d+) ms$/gmu)].map(([, ms]) => Number(ms))
          assert.lengthOf(times, 2, output)
          return Math.max(...times)
        })
        const ms = yield* Effect.repeat(slowest, {
          until: (ms) => ms < TEST_MS_MAX,
          schedule: Schedule.spaced("2 seconds"),
          times: TRIES_MAX - 1
        })
        assert.isBelow(ms, TEST_MS_MAX)
      }),
    300_000
  )
}

/** Serves provider.ts with Node. The first request to `/secret` brings the secret, which the market gives only after a registration. */
const SERVE = `import { createServer } from "node:http"
let handle
const server = createServer(async (incoming, outgoing) => {
  const chunks = []
  for await (const chunk of incoming) chunks.push(chunk)
  const body = Buffer.concat(chunks)
  if (handle === undefined) {
    // The registration asks what the server offers.
    if (incoming.url !== "/secret") return outgoing.writeHead(503).end()
    process.env.MARKET_SECRET = body.toString()
    handle = (await import("./provider.ts")).fetch
    outgoing.writeHead(204).end()
    return
  }
  const { headers, method, url } = incoming
  const request = new Request("http://" + headers.host + url, { method, headers, body: body.length === 0 ? null : body })
  const response = await handle(request)
  outgoing.writeHead(response.status, Object.fromEntries(response.headers)).end(Buffer.from(await response.arrayBuffer()))
})
server.listen(0, "127.0.0.1", () => console.log("http://127.0.0.1:" + server.address().port + "/mcp"))
`

/**
 * The demo provider of `npm start`: the commands of the README work with nothing else running.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Result } from "effect"
import { spawnSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { readConfig } from "../../src/config/AppConfig.ts"
import { demoByDefault } from "../../src/layers/DemoProvider.ts"
import { dataFolder, until } from "../support/servers/EmbeddedFolders.ts"
import { freePort } from "../support/servers/FreePort.ts"
import { json, post, ready, start } from "../support/servers/ServiceProcess.ts"

const SLOW = 180_000
const ROOT = join(import.meta.dirname, "../..")

/** All commands of a chapter, with the ports of this test. */
const commandsOf = (heading: string, url: string, port: number): string => {
  const [, rest = ""] = readFileSync(join(ROOT, "README.md"), "utf8").split(`## ${heading}\n`)
  const [chapter = ""] = rest.split("\n## ")
  return [...chapter.matchAll(/^```sh\n(.*?)^```$/gmsu)]
    .map(([, commands]) => commands!)
    .join("\n")
    .replaceAll("localhost:3000", url.replace("http://", ""))
    .replaceAll("3001", String(port))
}

/** Without it the test that needs it is counted as skipped. */
const hasCurl = spawnSync("curl", ["--version"]).status === 0

/** In the repository, with one shell. What it starts in the background is killed with the test's scope. */
const shell = Effect.fnUntraced(function* (script: string) {
  const whole = `trap 'printf "\\nstatus %s\\n" "$?"; wait' EXIT\n${script}`
  const { output, problem } = yield* start(["-ec", whole], { command: ["sh"], cwd: ROOT })
  const status = Effect.sync(() => /^status (\d+)$/mu.exec(output())?.[1])
  yield* until(
    "the commands end",
    Effect.map(status, (code) => code !== undefined)
  )
  return { output: output(), problem: problem(), status: yield* status }
})

/** A call of the server that the commands started, once it listens. */
const callOfEverything = (url: string, port: number) => `
until curl -s http://127.0.0.1:${port}/mcp; do sleep 0.2; done
curl -s ${url}/api/market/proxy -H "authorization: Bearer $KEY" -H 'content-type: application/json' \\
  -d '{"tool_name": "everything/echo", "input": {"message": "heard"}}'`

const tools = (url: string) =>
  Effect.map(
    json(`${url}/api/market/catalog?category=demo&utm_read=${Math.floor(performance.now() * 1_000)}`),
    ({ body }) => body["tools"] as ReadonlyArray<Readonly<Record<string, unknown>>>
  )

describe("the demo provider", () => {
  it.live.skipIf(!hasCurl)(
    "makes the README's commands for a first call work on a new service",
    () =>
      Effect.gen(function* () {
        const { url } = yield* ready({ PROFILE: "memory", DEMO_PROVIDER: "on" })
        const port = yield* freePort
        const commands = commandsOf("First call", url, port)
        const { output, problem, status } = yield* shell(`${commands}${callOfEverything(url, port)}`)
        assert.strictEqual(status, "0", `${output}\n${problem}`)
        assert.include(output, "HTTP/1.1 200")
        assert.include(output, '"text":"hello"')
        assert.include(output, '"cost_microcents":500')
        assert.include(output, '"balanced":true')
        assert.match(output, /claude mcp add .*\n.*Bearer atb_c_/u)
        assert.include(output, '"text":"Echo: heard"')
      }),
    SLOW
  )

  it.live(
    "is on by default with npm start, recognizable, and bills each kind of call",
    () =>
      Effect.gen(function* () {
        // As `npm start`, whose environment does not name the setting.
        const { output, url } = yield* ready({ PROFILE: "memory", DEMO_PROVIDER: "" })
        assert.include(output(), "/catalog?category=demo")
        const listed = yield* tools(url)
        assert.sameMembers(
          listed.map((tool) => tool["qualified_name"]),
          ["demo/echo", "demo/lookup_element", "demo/countdown", "demo/count_words"]
        )
        for (const tool of listed) {
          assert.strictEqual((tool["provider"] as { readonly name: string }).name, "Demo provider")
          assert.isNotNull(tool["input_schema"])
        }
        const { body } = yield* json(`${url}/api/v1/market/tools/demo%2Fcount_words`)
        assert.deepInclude(body["declaration"], { category: "demo", display_name: "Count words", idempotent: true })
        assert.deepInclude(body["output_schema"], { required: ["words"] })
        assert.include(JSON.stringify(body), '"read_only_hint":true')
        const agent = yield* post(`${url}/api/market/register-consumer`, { name: "A", email: "a@example.org" })
        const key = String(agent.body["api_key"])
        yield* post(`${url}/api/market/balance/load`, { amount_cents: 100 }, key)
        const call = (tool: string, input: object, more: object = {}) =>
          Effect.map(post(`${url}/api/market/proxy`, { tool_name: tool, input, ...more }, key), ({ body }) => {
            const { cost_microcents: cost, outcome } = body["meta"] as Readonly<Record<string, unknown>>
            return [outcome, cost]
          })
        assert.deepStrictEqual(yield* call("demo/lookup_element", { element: "He" }), ["success", 1_000])
        assert.deepStrictEqual(yield* call("demo/lookup_element", { element: "xx" }), ["error", 0])
        assert.deepStrictEqual(yield* call("demo/countdown", { from: 1 }), ["success", 2_000])
        const cap = { max_cost_microcents: 10_000 }
        assert.deepStrictEqual(yield* call("demo/count_words", { text: "one two three" }, cap), ["success", 30])
      }),
    SLOW
  )

  it.live(
    "is the same after a restart, and withdrawn where it is turned off",
    () =>
      Effect.gen(function* () {
        const dataDir = yield* dataFolder
        const idsWith = (DEMO_PROVIDER: string) =>
          Effect.scoped(
            Effect.gen(function* () {
              const service = yield* ready({ DATA_DIR: dataDir, DEMO_PROVIDER })
              const ids = (yield* tools(service.url)).map(({ id, pricing }) => [
                id,
                (pricing as { readonly price_version: number }).price_version
              ])
              service.child.kill("SIGINT")
              yield* service.exit
              return ids
            })
          )
        const first = yield* idsWith("on")
        assert.lengthOf(first, 4)
        assert.deepStrictEqual(yield* idsWith("on"), first)
        assert.deepStrictEqual(yield* idsWith("off"), [])
        assert.deepStrictEqual(
          (yield* idsWith("on")).map(([id]) => id),
          first.map(([id]) => id)
        )
      }),
    SLOW
  )

  it("is possible only in a dry run of memory and embedded", () => {
    const SECRET = "0123456789abcdef".repeat(4)
    const production = {
      DATABASE_URL: "postgres://db/x",
      RECEIPT_SIGNING_SECRET: SECRET,
      LOG_SIGNING_KEY: SECRET,
      PAYMENTS: "dry_run"
    }
    const stripe = {
      PROFILE: "memory",
      PAYMENTS: "stripe",
      STRIPE_SECRET_KEY: "sk_x",
      STRIPE_WEBHOOK_SECRET: "whsec_x"
    }
    for (const settings of [production, stripe]) {
      const read = readConfig([{ ...settings, DEMO_PROVIDER: "on" }])
      assert.isTrue(Result.isFailure(read))
      if (Result.isFailure(read)) assert.include(read.failure.message, "DEMO_PROVIDER")
      assert.strictEqual(demoByDefault(Result.getOrThrow(readConfig([settings]))), "off")
    }
    for (const settings of [{}, { PROFILE: "memory" }, { PROFILE: "memory", PAYMENTS: "dry_run" }]) {
      assert.strictEqual(demoByDefault(Result.getOrThrow(readConfig([settings]))), "on")
    }
  })
})

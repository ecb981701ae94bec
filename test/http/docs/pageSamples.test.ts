/**
 * The commands of the front page and of the tool pages, run as shown: on a new service, beside other providers, and without the
 * demo provider.
 */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { execFile, spawnSync } from "node:child_process"
import { elementsOf, parseHtml, textOf } from "../../support/checks/HtmlCheck.ts"
import { aDeveloper, loaded, posted } from "../../support/market/HttpMarket.ts"
import { fine, providing } from "../../support/metering/Provider.ts"
import { json, ready } from "../../support/servers/ServiceProcess.ts"

const hasCurl = spawnSync("curl", ["--version"]).status === 0
const MINUTES = 240_000

const commandsOf = (url: string, id: string) =>
  Effect.promise(async () => {
    const page = parseHtml(await (await fetch(`${url}`)).text())
    const part = elementsOf(page).find(({ attributes }) => attributes["id"] === id)!
    return elementsOf(part)
      .filter(({ tag }) => tag === "code")
      .map(textOf)
  })

/** In one shell; curl fails where a request does. */
const run = (commands: ReadonlyArray<string>, env: Readonly<Record<string, string>> = {}) =>
  Effect.callback<string>((resume) => {
    const script = [`curl() { command curl -fsS "$@"; }`, ...commands].join("\necho\n")
    const given = { PATH: process.env["PATH"], ...env }
    execFile("bash", ["-euo", "pipefail", "-c", script], { env: given }, (error, stdout, stderr) =>
      resume(error === null ? Effect.succeed(stdout) : Effect.die(new Error(`${script}\n${stdout}\n${stderr}`)))
    )
  })

const service = (demo: "on" | "off") =>
  ready({
    PROFILE: "memory",
    DEMO_PROVIDER: demo,
    LOG_LEVEL: "Error",
    RATE_LIMIT_IP_RPM: "0",
    RATE_LIMIT_REGISTER_RPM: "0"
  })

/** Newer than anything else, without a server that answers. */
const others = Effect.fnUntraced(function* (url: string, count: number) {
  for (let n = 0; n < count; n++) {
    yield* posted(`${url}/api/market/register-provider`, {
      name: `Other ${n}`,
      email: "other@example.org",
      endpoint_url: "http://127.0.0.1:9/mcp",
      tools: [{ tool_name: `dead-${n}`, price_microcents: 1 }]
    })
  }
})

it.live.skipIf(!hasCurl)(
  "the front page calls a tool of the demo provider, whichever others are listed",
  () =>
    Effect.gen(function* () {
      const { url } = yield* service("on")
      for (const count of [0, 8]) {
        yield* others(url, count)
        const output = yield* run(yield* commandsOf(`${url}/?utm_read=${count}`, "developers"))
        assert.match(output, /"receipt_id":"rcpt_/u)
        assert.include(output, `"provider":"Demo provider"`)
        assert.include(yield* run(yield* commandsOf(url, "providers")), "atb_p_")
      }
    }),
  MINUTES
)

it.live.skipIf(!hasCurl)(
  "the front page calls what is listed where there is no demo provider, with a cap if it is usage-priced",
  () =>
    Effect.gen(function* () {
      const { url } = yield* service("off")
      const { url: endpoint } = yield* providing(fine)
      yield* posted(`${url}/api/market/register-provider`, {
        name: "Only",
        email: "only@example.org",
        endpoint_url: endpoint,
        tools: [{ tool_name: "metered", price_microcents: 10, max_cost_microcents: 400 }]
      })
      const output = yield* run(yield* commandsOf(url, "developers"))
      assert.match(output, /"receipt_id":"rcpt_/u)
    }),
  MINUTES
)

it.live.skipIf(!hasCurl)(
  "the page of every tool of the demo provider has a command that calls it",
  () =>
    Effect.gen(function* () {
      const { url } = yield* service("on")
      const key = yield* aDeveloper(url)
      yield* loaded(url, key, 500)
      const { body } = yield* json(`${url}/api/market/catalog`)
      const tools = body["tools"] as ReadonlyArray<{ readonly id: string; readonly qualified_name: string }>
      assert.lengthOf(tools, 4)
      for (const { id, qualified_name: name } of tools) {
        const commands = yield* commandsOf(`${url}/catalog/${id}`, "call")
        assert.lengthOf(commands, 1)
        const output = yield* run(commands, { CONSUMER_KEY: key })
        assert.match(output, /"outcome":"success"|"receipt_id":"rcpt_/u, name)
        assert.strictEqual(commands[0]!.includes("max_cost_microcents"), name === "demo/count_words", name)
      }
    }),
  MINUTES
)

/**
 * The samples of docs/mcp.md, run as they are printed, and its JSON compared with what a client gets.
 */
import { assert, it } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { execFile } from "node:child_process"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { BILLING_META, PRICE_META } from "../../../domain/upstream/Protocol.ts"
import { aDeveloper, posted } from "../../support/market/HttpMarket.ts"
import { connected } from "../../support/mcp/LegacyClients.ts"
import { sdk2Server } from "../../support/mcp/servers/RealServers.ts"
import { projectRoot } from "../../support/project/PlantedProject.ts"
import { ready } from "../../support/servers/ServiceProcess.ts"

const page = readFileSync(join(projectRoot, "docs/mcp.md"), "utf8")

const blocksOf = (language: string): ReadonlyArray<string> =>
  [...page.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, "gmsu"))].map(([, text]) => text!)

class Running extends Context.Service<Running, { readonly url: string }>()("agent-tool-billing/test/mcp/DocsSamples") {
  static readonly layer = Layer.effect(
    Running,
    ready({ PROFILE: "memory", RATE_LIMIT_RPM: "0", LOG_LEVEL: "Warn", DEMO_PROVIDER: "on" })
  )
}

interface Ran {
  readonly code: number
  readonly text: string
}

/** In a shell, at the root of the project. curl fails for a status above 399, and starts a line for each response. */
const run = (script: string, variables: Readonly<Record<string, string>>) =>
  Effect.promise(
    () =>
      new Promise<Ran>((resolve) => {
        const prelude = "set -euo pipefail; curl() { command curl -fsS -w '\\n' \"$@\"; }\n"
        const env = { PATH: process.env["PATH"], HOME: process.env["HOME"], ...variables }
        execFile(
          "bash",
          ["-c", prelude + script],
          { cwd: projectRoot, env, timeout: 120_000 },
          (error, stdout, stderr) =>
            resolve({ code: error === null ? 0 : 1, text: error === null ? stdout : stdout + stderr })
        )
      })
  )

const printed = Effect.fnUntraced(function* (script: string, variables: Readonly<Record<string, string>>) {
  const { code, text } = yield* run(script, variables)
  assert.strictEqual(code, 0, `${script}\n${text}`)
  return text
})

const tool = (name: string) => ({ name, description: `Does ${name}.`, inputSchema: { type: "object" } })

it.layer(Running.layer, { timeout: "60 seconds", excludeTestServices: true })("docs/mcp.md", (it) => {
  it.effect(
    "has samples of the shell that run as printed",
    () =>
      Effect.gen(function* () {
        const { url } = yield* Running
        const [registering, configuring, importing, choosing, ...others] = blocksOf("sh")
        assert.deepStrictEqual(others, [])
        const listing = { tools: [tool("search"), tool("fetch")] }
        const server = yield* sdk2Server({ legacy: "reject", list: () => listing })

        const registered = yield* printed(registering!.replace("http://127.0.0.1:3000", url), {})
        const key = String((JSON.parse(registered) as { readonly api_key: string }).api_key)

        const configurations = yield* printed(configuring!, { KEY: key, BASE_URL: url })
        for (const part of [`${url}/mcp"`, `${url}/mcp/demo"`, "https://market.example/mcp", `Bearer ${key}`]) {
          assert.include(configurations, part)
        }

        const [first, ...rest] = importing!.replace("https://tools.example.org/mcp", server.url).split(/(?=^curl)/mu)
        const provider = JSON.parse(yield* printed(first!, { URL: url })) as { readonly api_key: string }
        const preview = yield* printed(rest.join(""), { URL: url, PROVIDER_KEY: provider.api_key })
        assert.include(preview, "Preview: 2 listed. Nothing was changed.")
        const apply = rest.join("").replace('"listed": true', '"listed": true, "apply": true')
        assert.include(yield* printed(apply, { URL: url, PROVIDER_KEY: provider.api_key }), '"applied":true')

        assert.include(yield* printed(choosing!, { URL: url, KEY: key }), '"alias":"demo__echo"')
      }),
    240_000
  )

  it.effect("shows the members of prices and of bills that a client gets", () =>
    Effect.gen(function* () {
      const { url } = yield* Running
      const key = yield* aDeveloper(url)
      yield* posted(`${url}/api/market/balance/load`, { amount_cents: 100 }, key)
      const { client } = yield* connected({ door: `${url}/mcp/demo`, key })
      const [price, billing] = blocksOf("json").map((text) => JSON.parse(text) as Readonly<Record<string, object>>)
      const { tools } = yield* Effect.promise(() => client.listTools())
      const echo = tools.find(({ name }) => name === "echo")!
      assert.sameMembers(Object.keys(echo._meta!), Object.keys(price!))
      assert.sameMembers(Object.keys(echo._meta![PRICE_META] as object), Object.keys(price![PRICE_META]!))
      assert.include(echo.description!, "Costs $0.0005 per call.")
      const result = yield* Effect.promise(() => client.callTool({ name: "echo", arguments: { message: "hello" } }))
      const bill = (result._meta as Readonly<Record<string, object>>)[BILLING_META]!
      assert.sameMembers(Object.keys(bill), Object.keys(billing![BILLING_META]!))
    })
  )
})

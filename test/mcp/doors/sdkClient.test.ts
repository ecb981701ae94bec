/**
 * The 2.x client of the official SDK in its modern mode, with nothing but a URL and a key, at the doors of real servers.
 */
import { assert, it } from "@effect/vitest"
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client"
import { Effect } from "effect"
import { loadMarket, PRICE, walletOf } from "../../support/load/LoadMarket.ts"
import { sdk1Server, sdk2Server } from "../../support/mcp/servers/RealServers.ts"
import { RawHttp } from "../../support/servers/RawHttp.ts"
import { LIVE } from "../../support/market/ServiceUnderTest.ts"

const SETTINGS = { PAYMENTS: "dry_run", ALLOW_UPSTREAM: "loopback", RATE_LIMIT_RPM: "1000", RATE_LIMIT_IP_RPM: "0" }
const MODERN = "2026-07-28"

const connected = (url: string, key: string) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const client = new Client(
        { name: "sdk2", version: "1" },
        { versionNegotiation: { mode: { pin: MODERN } }, capabilities: {} }
      )
      const headers = { authorization: `Bearer ${key}` }
      await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }))
      return client
    }),
    (client) => Effect.promise(() => client.close())
  )

const aMarket = Effect.fnUntraced(function* (serverUrl: string, tool: object, cents = 100) {
  const { port } = yield* RawHttp
  const base = `http://127.0.0.1:${port}`
  const { buyers, providerId } = yield* loadMarket(base, { url: serverUrl }, { buyers: 1, cents, tool: { ...tool } })
  return { url: `${base}/mcp/${providerId}`, key: buyers[0]!, wallet: walletOf(base, buyers[0]!) }
})

const resultOf = (value: unknown) =>
  value as {
    readonly isError?: boolean
    readonly content: ReadonlyArray<{ readonly text?: string }>
    readonly _meta?: Record<string, unknown>
  }

it.layer(RawHttp.layer(SETTINGS), LIVE)("The SDK's client", (it) => {
  for (const [name, server] of [
    ["a modern server", sdk2Server({ legacy: "reject" })],
    ["a legacy server with sessions", sdk1Server({ stateful: true })]
  ] as const) {
    it.effect(`connects, lists and calls over ${name}`, () =>
      Effect.gen(function* () {
        const { url: serverUrl } = yield* server
        const { key, wallet, url } = yield* aMarket(serverUrl, {})
        const client = yield* connected(url, key)
        const { tools } = yield* Effect.promise(() => client.listTools())
        assert.deepStrictEqual(
          tools.map((tool) => tool.name),
          ["echo"]
        )
        assert.strictEqual(tools[0]!.description, "Costs $0.012345 per call.")
        const called = yield* Effect.promise(() => client.callTool({ name: "echo", arguments: { city: "Bern" } }))
        assert.strictEqual(resultOf(called).content[0]!.text, '{"city":"Bern"}')
        const billing = resultOf(called)._meta?.["agent-tool-billing/billing"] as { readonly cost_microcents: number }
        assert.strictEqual(billing.cost_microcents, PRICE)
        assert.deepStrictEqual(yield* wallet, { balance: 1_000_000 - PRICE, held: 0 })
      })
    )
  }

  it.effect("receives progress before the result", () =>
    Effect.gen(function* () {
      const { url: serverUrl } = yield* sdk2Server({ legacy: "reject" })
      const { key, url } = yield* aMarket(serverUrl, { tool_name: "progress" })
      const client = yield* connected(url, key)
      const called = yield* Effect.promise(() =>
        client.callTool(
          { name: "progress", _meta: { "io.modelcontextprotocol/logLevel": "info" } },
          { onprogress: () => {} }
        )
      )
      assert.strictEqual(resultOf(called).content[0]!.text, "after progress")
    })
  )

  it.effect("gets a refusal as a result, also of a tool with an output schema", () =>
    Effect.gen(function* () {
      const { url: serverUrl } = yield* sdk2Server({ legacy: "reject" })
      const strict = {
        type: "object",
        properties: { t: { type: "number" } },
        required: ["t"],
        additionalProperties: false
      }
      const { key, url } = yield* aMarket(serverUrl, { tool_name: "structured", output_schema: strict }, 0)
      const client = yield* connected(url, key)
      yield* Effect.promise(() => client.listTools())
      const refused = resultOf(yield* Effect.promise(() => client.callTool({ name: "structured" })))
      assert.isTrue(refused.isError)
      assert.match(refused.content[0]!.text!, /Insufficient balance/u)
    })
  )

  it.effect("gets an error for an unknown tool", () =>
    Effect.gen(function* () {
      const { url: serverUrl } = yield* sdk2Server({ legacy: "reject" })
      const { key, url } = yield* aMarket(serverUrl, {})
      const client = yield* connected(url, key)
      const error = yield* Effect.promise(() =>
        client.callTool({ name: "nothing" }).then(
          () => undefined,
          (cause: unknown) => cause as { readonly code?: number }
        )
      )
      assert.strictEqual(error?.code, -32_602)
    })
  )
})

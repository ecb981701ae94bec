/**
 * A provider's server on the official SDK, behind `withBilling`, called through the service.
 */
import { assert, describe, it } from "@effect/vitest"
import { createMcpHandler, Server } from "@modelcontextprotocol/server"
import { Effect } from "effect"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { createClient } from "../../client/Client.ts"
import { maxCostOf, withBilling, withCost } from "../../client/WithBilling.ts"
import { RawHttp } from "../support/servers/RawHttp.ts"
import { LIVE } from "../support/market/ServiceUnderTest.ts"

const COST_MICROCENTS = 1_234

/** What the server saw, and its replies to requests that did not come from the market. */
interface Provider {
  readonly url: string
  readonly caps: Array<number | undefined>
  readonly statuses: Array<number>
  /** Undefined until its registration. */
  secret: string | undefined
}

const handler = (caps: Array<number | undefined>) =>
  createMcpHandler(() => {
    const server = new Server({ name: "metered", version: "1" }, { capabilities: { tools: {} } })
    server.setRequestHandler("tools/list", async () => ({
      tools: [{ name: "count", inputSchema: { type: "object" } }]
    }))
    server.setRequestHandler("tools/call", async ({ params }) => {
      caps.push(maxCostOf(params))
      return withCost({ content: [{ type: "text" as const, text: "counted" }] }, COST_MICROCENTS)
    })
    return server
  })

const providing = Effect.acquireRelease(
  Effect.promise(async () => {
    const caps: Array<number | undefined> = []
    const { fetch } = handler(caps)
    const answer = async (request: Request) => {
      const response = await withBilling((signed) => fetch(signed), { secret: () => provider.secret })(request)
      provider.statuses.push(response.status)
      return {
        head: [response.status, Object.fromEntries(response.headers)] as const,
        body: Buffer.from(await response.arrayBuffer())
      }
    }
    const server = createServer((incoming, outgoing) => {
      const chunks: Array<Buffer> = []
      incoming.on("data", (chunk: Buffer) => chunks.push(chunk))
      incoming.on("end", () => {
        const body = Buffer.concat(chunks)
        const request = new Request(`http://${incoming.headers.host}${incoming.url}`, {
          method: incoming.method ?? "GET",
          headers: Object.entries(incoming.headers).map(([name, value]): [string, string] => [name, String(value)]),
          body: body.length === 0 ? null : body
        })
        void answer(request).then((response) => outgoing.writeHead(...response.head).end(response.body))
      })
    })
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`
    const provider: Provider = { url, caps, statuses: [], secret: undefined }
    return { provider, server }
  }),
  ({ server }) =>
    Effect.sync(() => {
      server.close()
      server.closeAllConnections()
    })
)

it.layer(RawHttp.layer({ PAYMENTS: "dry_run", ALLOW_UPSTREAM: "loopback" }), LIVE)("A server with billing", (it) => {
  it.effect("accepts calls of the market, knows the cap and reports the cost", () =>
    Effect.gen(function* () {
      const { port } = yield* RawHttp
      const { provider } = yield* providing
      const baseUrl = `http://127.0.0.1:${port}`
      yield* Effect.promise(async () => {
        const anyone = createClient({ baseUrl })
        const { api_key, tools } = await anyone.accounts.registerProvider({
          payload: {
            name: "Counting",
            email: "count@example.org",
            endpoint_url: provider.url,
            tools: [{ tool_name: "count", price_microcents: 500, max_cost_microcents: 5_000 }]
          }
        })
        const { api_key: key } = await anyone.accounts.registerConsumer({
          payload: { name: "A", email: "a@example.org" }
        })
        const agent = createClient({ baseUrl, key })
        await agent.money.load({ payload: { amount_cents: 100 } })
        const call = () =>
          agent.calls
            .proxy({ payload: { tool_id: tools[0]!.id, input: {}, max_cost_microcents: 3_000 } })
            .catch((error: unknown) => error)

        // On a busy machine the registration may not wait for the whole list.
        assert.isNotEmpty(provider.statuses)
        assert.includeMembers([200, 202], provider.statuses, "the registration was answered")
        assert.instanceOf(await call(), Error, "the server does not know the secret")
        assert.include(provider.statuses, 503)

        const own = createClient({ baseUrl, key: api_key })
        provider.secret = (await own.trust.signingSecret()).secret
        const called = (await call()) as { readonly meta: { readonly cost_microcents: number } }
        assert.strictEqual(called.meta.cost_microcents, COST_MICROCENTS)
        assert.deepStrictEqual(provider.caps, [3_000])
      })
    })
  )
})

describe("withBilling", () => {
  it("answers what a registration asks before the secret is known, and nothing else", async () => {
    const known: { secret?: string } = {}
    const guard = withBilling(async (request) => new Response(await request.text()), {
      secret: async () => known.secret
    })
    const statusOf = async (body: unknown) =>
      (await guard(new Request("http://provider/mcp", { method: "POST", body: JSON.stringify(body) }))).status
    const initialize = { jsonrpc: "2.0", id: 1, method: "initialize" }
    assert.strictEqual(await statusOf(initialize), 200)
    assert.strictEqual(await statusOf({ ...initialize, method: "tools/list" }), 200)
    assert.strictEqual(await statusOf({ ...initialize, method: "tools/call" }), 503)
    assert.strictEqual(await statusOf([initialize]), 503)
    assert.strictEqual((await guard(new Request("http://provider/mcp"))).status, 503)
    known.secret = ""
    assert.strictEqual(await statusOf(initialize), 200)
    const body = '{"jsonrpc":"2.0","id":1,"method":"tools/call","Method":"tools/call","method":"tools/list"}'
    const headers = { "x-market-consumer": "anyone" }
    const twice = await guard(new Request("http://provider/mcp", { method: "POST", body, headers }))
    assert.deepStrictEqual(await twice.json(), { jsonrpc: "2.0", id: 1, method: "tools/list" })
    known.secret = "the provider's secret"
    assert.strictEqual(await statusOf(initialize), 401)
  })

  const secret = "the provider's secret"
  const NOW_MS = Date.parse("2026-11-23T00:00:00.000Z")
  const hex = (bytes: ArrayBuffer) => Buffer.from(bytes).toString("hex")

  const signed = async (body: string, at = "2026-11-23T00:00:00.000Z", by = secret) => {
    const values = [at, "consumer", "search", "rcpt_00000000000000000000000000000001"]
    const digest = hex(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(body)))
    const key = await crypto.subtle.importKey(
      "raw",
      new TextEncoder().encode(by),
      { name: "HMAC", hash: "SHA-256" },
      false,
      ["sign"]
    )
    const text = ["market-v1", ...values, digest].join("\n")
    return {
      "x-market-timestamp": values[0]!,
      "x-market-consumer": values[1]!,
      "x-market-tool": values[2]!,
      "x-market-invocation": values[3]!,
      "x-market-signature": hex(await crypto.subtle.sign("HMAC", key, new TextEncoder().encode(text)))
    }
  }

  const guarded = (secrets: string | ReadonlyArray<string> = secret) =>
    withBilling(async (request) => new Response(await request.text()), {
      secret: secrets,
      now: () => NOW_MS,
      bodyBytesMax: 100
    })
  const request = (headers: Record<string, string>, body: string) =>
    new Request("http://provider.test/mcp", { method: "POST", headers, body })

  it("passes a signed request on with its body, and rejects its repetition", async () => {
    const fetch = guarded()
    const headers = await signed("{}")
    assert.strictEqual(await (await fetch(request(headers, "{}"))).text(), "{}")
    assert.strictEqual((await fetch(request(headers, "{}"))).status, 409)
    const retried = await signed("{}", "2026-11-23T00:00:00.001Z")
    assert.strictEqual((await fetch(request(retried, "{}"))).status, 200)
  })

  it("accepts an old secret while it is replaced", async () => {
    assert.strictEqual((await guarded(["new", secret])(request(await signed("{}"), "{}"))).status, 200)
  })

  it.each<readonly [string, () => Promise<Record<string, string>>, string, number]>([
    ["without a signature", async () => ({}), "{}", 401],
    ["with another body", () => signed("{}"), "[]", 401],
    ["for another tool", async () => ({ ...(await signed("{}")), "x-market-tool": "delete" }), "{}", 401],
    ["signed by another secret", () => signed("{}", undefined, "another"), "{}", 401],
    ["signed too long ago", () => signed("{}", "2026-11-22T23:54:59.999Z"), "{}", 401],
    ["signed in the future", () => signed("{}", "2026-11-23T00:05:00.001Z"), "{}", 401],
    ["without a valid time", () => signed("{}", "now"), "{}", 401],
    ["that is too large", () => signed("x".repeat(101)), "x".repeat(101), 413]
  ])("rejects a request %s", async (_, headers, body, status) => {
    assert.strictEqual((await guarded()(request(await headers(), body))).status, status)
  })

  it("rejects an empty secret when it is made", () => {
    for (const empty of ["", [], [secret, ""]]) assert.throws(() => guarded(empty), TypeError)
  })

  it("ignores a cap that is not an amount", () => {
    const field = "market/max_cost_microcents"
    assert.strictEqual(maxCostOf({ _meta: { [field]: 3_000 } }), 3_000)
    for (const wrong of [-1, 0.5, "3000", null]) assert.isUndefined(maxCostOf({ _meta: { [field]: wrong } }))
    assert.isUndefined(maxCostOf({}))
  })

  it("keeps the result's own metadata, and rejects a cost that is not an amount", () => {
    const result: object = withCost({ content: [], _meta: { own: 1 } }, 5)
    assert.deepStrictEqual(result, {
      content: [],
      _meta: { own: 1, "market/cost_microcents": 5 }
    })
    for (const wrong of [-1, 0.5, Number.NaN, 2 ** 53]) assert.throws(() => withCost({}, wrong), RangeError)
  })
})

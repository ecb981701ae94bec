/**
 * Every endpoint of the contract's tables, requested as a client of the open specification would, without a key:
 * protected ones require a key, and none is missing.
 */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { at, aProvider, expecting } from "../support/market/Market.ts"
import { fine, providing } from "../support/metering/Provider.ts"
import { aFundedConsumer, anOffer, callOf } from "../support/metering/Shop.ts"
import { LIVE, send, ServiceUnderTest } from "../support/market/ServiceUnderTest.ts"

const NONE = "01a20000-0000-7000-8000-000000000000"
const RECEIPT = `rcpt_${"0".repeat(32)}`
const DISPUTE = NONE

/** Method, path, and the status of a request without a key and, for a POST, with an empty object. */
const ENDPOINTS: ReadonlyArray<readonly [method: string, path: string, status: number]> = [
  ["POST", "/api/market/register-provider", 422],
  ["POST", "/api/market/register-consumer", 422],
  ["POST", "/api/market/tools", 401],
  ["GET", "/api/market/register-provider", 200],
  ["GET", "/api/market/register-consumer", 200],
  ["GET", "/api/market/tools", 200],
  ["GET", "/api/market/catalog", 200],
  ["GET", "/api/v1/market/pricing", 200],
  ["GET", "/api/v1/market/stats", 200],
  ["GET", "/api/market", 200],
  ["GET", "/api/market/health", 200],
  ["POST", "/api/market/proxy", 401],
  ["POST", "/api/v1/market/meter", 401],
  ["GET", "/api/v1/market/meter", 200],
  ["GET", "/api/v1/market/grants", 401],
  ["POST", "/api/v1/market/grants", 401],
  ["DELETE", `/api/v1/market/grants/${NONE}`, 401],
  ["DELETE", `/api/v1/market/grants?grant_id=${NONE}`, 401],
  ["GET", "/api/v1/market/balance", 401],
  ["POST", "/api/market/balance/load", 401],
  ["GET", "/api/market/usage", 401],
  ["GET", "/api/v1/market/usage", 401],
  ["GET", "/api/market/usage/summary", 401],
  ["GET", "/api/v1/market/usage/summary", 401],
  ["GET", "/api/v1/market/invoices", 401],
  ["GET", `/api/v1/market/invoices/${NONE}`, 401],
  ["POST", "/api/market/billing/provider-summary", 401],
  ["POST", "/api/v1/market/billing/provider-summary", 401],
  ["POST", "/api/market/connect", 401],
  ["GET", "/api/market/connect", 401],
  ["POST", "/api/market/payouts", 401],
  ["GET", "/api/market/payouts", 401],
  ["GET", "/api/v1/market/receipts", 401],
  ["GET", `/api/v1/market/receipts/${RECEIPT}`, 404],
  ["POST", "/api/v1/verify", 200],
  ["GET", `/api/v1/market/receipts/${RECEIPT}/proof`, 404],
  ["GET", "/api/v1/market/log/checkpoint", 200],
  ["GET", "/.well-known/jwks.json", 200],
  ["POST", "/api/v1/market/providers/verify", 401],
  ["GET", "/api/v1/market/providers/verify", 200],
  ["GET", `/api/v1/market/providers/${NONE}/sla`, 404],
  ["GET", `/api/v1/market/providers/${NONE}/trust`, 404],
  ["POST", "/api/v1/market/disputes", 401],
  ["GET", "/api/v1/market/disputes", 401],
  ["GET", `/api/v1/market/disputes/${DISPUTE}`, 404],
  ["POST", `/api/v1/market/disputes/${DISPUTE}/respond`, 401],
  ["POST", `/api/v1/market/disputes/${DISPUTE}/resolve`, 401],
  ["GET", "/api/v1", 200],
  ["GET", "/api/v1/status", 200],
  ["GET", "/api/v1/health", 200],
  ["GET", "/livez", 200],
  ["GET", "/readyz", 200],
  ["GET", "/metrics", 200],
  ["GET", "/api/v1/stats", 200],
  ["GET", "/api/v1/services", 200],
  ["POST", "/api/v1/waitlist", 422],
  ["POST", "/api/v1/feedback", 422],
  ["GET", "/api/v1/feedback", 200],
  ["POST", "/api/v1/apply", 422],
  ["GET", "/api/v1/apply", 200],
  ["POST", "/api/v1/init", 200],
  ["GET", "/api/openapi.json", 200],
  ["GET", "/.well-known/agents.json", 200],
  ["GET", "/llms.txt", 200]
]

it.layer(ServiceUnderTest.memory({ ALLOW_UPSTREAM: "loopback" }), LIVE)("The contract", (it) => {
  it.effect.each(ENDPOINTS)("has %s %s", ([method, path, status]) =>
    Effect.gen(function* () {
      const answer = yield* send({ method, path, ...(method === "POST" ? { json: {} } : {}) })
      assert.strictEqual(answer.status, status, answer.text.slice(0, 300))
      // A missing resource differs from a missing endpoint.
      if (status === 404) assert.notInclude(answer.text, "There is nothing at")
      const other = yield* send({ method: "PATCH", path })
      assert.strictEqual(other.status, 405)
      assert.include(other.headers["allow"] ?? other.headers["access-control-allow-methods"], method)
    })
  )

  it.effect("has the fields that existing clients read, and does not show endpoint_url", () =>
    Effect.gen(function* () {
      const { url } = yield* providing(fine)
      const offer = yield* anOffer(url, { price_microcents: 25_000, free_tier_calls: 3 })
      const consumer = yield* aFundedConsumer()
      yield* expecting(200, callOf(consumer, offer))
      const catalog = yield* expecting(200, { path: `/api/market/catalog?provider_id=${offer.provider.id}` })
      const field = (...path: ReadonlyArray<string>) => at(catalog, "tools", 0, ...path)
      assert.deepStrictEqual([field("pricing", "free_tier_limit"), field("pricing", "free_tier_remaining")], [3, 3])
      assert.isNumber(field("stats", "avg_response_time_ms"))
      assert.strictEqual(field("stats", "avg_response_time_ms"), field("stats", "avg_latency_ms"))
      const prices = yield* expecting(200, { path: "/api/v1/market/pricing" })
      const lines = at(prices, "pricing") as ReadonlyArray<Readonly<Record<string, unknown>>>
      const line = lines.find((one) => one["tool_id"] === offer.toolId)!
      assert.include(line, { price_cents: 2, price: "$0.025", free_tier_limit: 3, free_tier_remaining: 3 })
      for (const answer of [catalog, prices]) assert.notInclude(answer.text, "endpoint_url")
      const summaries = yield* Effect.forEach(["/api/market", "/api/v1/market"], (base) =>
        expecting(200, { path: `${base}/billing/provider-summary`, key: offer.provider.key, json: { period: "7d" } })
      )
      assert.strictEqual(summaries[0]!.text, summaries[1]!.text)
    })
  )

  it.effect("states what each version is the version of", () =>
    Effect.gen(function* () {
      const market = yield* expecting(200, { path: "/api/market" })
      assert.deepStrictEqual(
        [at(market, "version"), at(market, "version_of")],
        ["0.3.0", "the market API under /api/market"]
      )
      for (const [path, ...inner] of [
        ["/api/v1"],
        ["/api/v1", "market", "trust_layer"],
        ["/api/v1/status"],
        ["/api/v1/health"],
        ["/.well-known/agents.json"]
      ] as const) {
        const answer = yield* expecting(200, { path })
        assert.strictEqual(at(answer, ...inner, "version"), "0.4.0", path)
        assert.include(at(answer, ...inner, "version_of") as string, "/api/v1", path)
      }
    })
  )

  it.effect("declares every media type of its responses", () =>
    Effect.gen(function* () {
      const { url } = yield* providing(fine)
      const consumer = yield* aFundedConsumer()
      yield* aProvider()
      const called = yield* expecting(200, callOf(consumer, yield* anOffer(url)))
      const id = String(at(called, "meta", "receipt_id"))
      const { paths } = (yield* expecting(200, { path: "/api/openapi.json" })).json as unknown as Declared
      for (const [method, path, declared, more] of [
        ["GET", `/api/v1/market/receipts/${id}/proof`, "/api/v1/market/receipts/{id}/proof", {}],
        [
          "GET",
          `/api/v1/market/receipts/${id}/proof`,
          "/api/v1/market/receipts/{id}/proof",
          { accept: "application/json" }
        ],
        ["POST", "/api/v1/verify", "/api/v1/verify", {}],
        ["GET", "/api/v1/market/log/checkpoint", "/api/v1/market/log/checkpoint", {}]
      ] as const) {
        const answer = yield* send({ method, path, headers: more, ...(method === "POST" ? { body: "{" } : {}) })
        const type = answer.headers["content-type"]!.split(";")[0]!
        const { content } = paths[declared]![method.toLowerCase()]!.responses[String(answer.status)]!
        assert.include(Object.keys(content), type, `${method} ${path} ${answer.status}`)
      }
      const invoice = paths["/api/v1/market/invoices/{id}"]!["get"]!.responses["200"]!.content
      assert.hasAllKeys(invoice, ["application/json", "text/html", "application/pdf"])
    })
  )
})

interface Declared {
  readonly paths: Readonly<
    Record<
      string,
      Record<string, { readonly responses: Record<string, { readonly content: Record<string, unknown> }> }>
    >
  >
}

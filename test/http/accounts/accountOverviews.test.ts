/**
 * The overviews of a consumer and of a provider: the same figures as the endpoints that they replace, and nothing of other
 * accounts.
 */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { aConsumer, aProvider, at, expecting, textAt, valueAt } from "../../support/market/Market.ts"
import { memoryCore } from "../../support/metering/Core.ts"
import { fine, providing } from "../../support/metering/Provider.ts"
import { buy, load, offerOf } from "../../support/metering/Shop.ts"
import { LIVE, send } from "../../support/market/ServiceUnderTest.ts"

const CONSUMERS_OVERVIEW = "/api/v1/market/consumers/overview"
const PROVIDERS_OVERVIEW = "/api/v1/market/providers/overview"

const read = (path: string, key: string) => expecting(200, { path, key })

const aDisputedCall = Effect.gen(function* () {
  const { url } = yield* providing(fine)
  const provider = yield* aProvider({ endpoint_url: url })
  const consumer = yield* aConsumer()
  yield* load(consumer, 500)
  const offer = yield* offerOf(provider, { price_microcents: 50_000, free_tier_calls: 1 })
  yield* buy(consumer, offer)
  const bought = yield* buy(consumer, offer)
  const json = { receipt_id: textAt(bought, "meta", "receipt_id"), reason: "quality", description: "wrong" }
  const dispute = yield* expecting(201, { path: "/api/v1/market/disputes", key: consumer.key, json })
  return { consumer, provider, dispute }
})

it.layer(memoryCore, LIVE)("The overviews", (it) => {
  it.effect("show a consumer its balance, usage and free calls", () =>
    Effect.gen(function* () {
      const { consumer, provider } = yield* aDisputedCall
      const found = yield* read(`${CONSUMERS_OVERVIEW}?period=7d`, consumer.key)
      const balance = yield* read("/api/v1/market/balance", consumer.key)
      const usage = yield* read("/api/v1/market/usage/summary?period=7d", consumer.key)
      const tiers = yield* read("/api/v1/market/free-tiers", consumer.key)
      assert.deepStrictEqual([at(found, "balance"), at(found, "usage")], [balance.json, usage.json])
      assert.deepStrictEqual(at(found, "free_tiers"), tiers.json)
      assert.strictEqual(valueAt(at(found, "usage"), "total_calls"), 2)

      const other = yield* read(CONSUMERS_OVERVIEW, (yield* aConsumer()).key)
      assert.notInclude(other.text, consumer.id)
      assert.strictEqual(valueAt(at(other, "usage"), "total_calls"), 0)
      const statuses = yield* Effect.forEach([undefined, provider.key], (key) =>
        send({ path: CONSUMERS_OVERVIEW, key })
      )
      assert.deepStrictEqual(
        statuses.map(({ status }) => status),
        [401, 403]
      )
    })
  )

  it.effect("show a provider its tools, calls, money, trust and disputes", () =>
    Effect.gen(function* () {
      const { consumer, dispute, provider } = yield* aDisputedCall
      const found = yield* read(PROVIDERS_OVERVIEW, provider.key)
      const payouts = yield* read("/api/market/payouts", provider.key)
      const usage = yield* read("/api/v1/market/usage/summary?period=30d", provider.key)
      const trust = yield* read(`/api/v1/market/providers/${provider.id}/trust`, provider.key)
      const tools = yield* read("/api/v1/market/tools?state=listed", provider.key)
      const earnings = yield* expecting(200, {
        path: "/api/v1/market/billing/provider-summary",
        key: provider.key,
        json: { period: "30d" }
      })
      const expected: unknown = {
        provider_id: provider.id,
        listed_tools: 1,
        qualified_name: valueAt(at(tools, "tools"), 0, "qualified_name"),
        calls_in_all: 2,
        usage: usage.json,
        net_earnings_microcents: valueAt(at(earnings, "earnings"), "net_earnings_microcents"),
        available_cents: at(payouts, "available_cents"),
        payout_account_complete: false,
        verification_level: valueAt(at(trust, "details"), "verification_level"),
        trust_score: at(trust, "trust_score"),
        open_disputes: 1,
        next_dispute: { dispute_id: textAt(dispute, "dispute_id"), respond_by: textAt(dispute, "respond_by") },
        timestamp: at(found, "timestamp")
      }
      assert.deepStrictEqual<unknown>(found.json, expected)
      assert.isAbove(Number(at(found, "net_earnings_microcents")), 0)

      // Its callers stay unnamed, and another provider sees nothing of it.
      assert.notInclude(found.text, consumer.id)
      const other = yield* read(PROVIDERS_OVERVIEW, (yield* aProvider()).key)
      assert.deepInclude(other.json, { listed_tools: 0, qualified_name: null, calls_in_all: 0, next_dispute: null })
      const statuses = yield* Effect.forEach([undefined, consumer.key], (key) =>
        send({ path: PROVIDERS_OVERVIEW, key })
      )
      assert.deepStrictEqual(
        statuses.map(({ status }) => status),
        [401, 403]
      )
    })
  )
})

/**
 * Usage totals equal the totals of the receipts, for calls of every kind.
 */
import { assert, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { aProvider, at, expecting, listAt, type Member, valueAt } from "../../support/market/Market.ts"
import { when } from "../../support/metering/TestTime.ts"
import {
  aFundedConsumer,
  anOffer,
  books,
  everyMarket,
  GRANTS,
  METER,
  numberAt,
  type Offer,
  offerOf,
  RECEIPTS,
  type WireReceipt
} from "../../support/metering/Shop.ts"
import { LIVE } from "../../support/market/ServiceUnderTest.ts"

const USAGE = "/api/v1/market/usage"
const NOW = "2026-12-10T12:30:00.000Z"
const nowhere = "http://127.0.0.1:9/mcp"
const PRICES = [0, 1, 12_345, 70_000]

const upTo = (most: number) => Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: most }))

const SomeCall = Schema.Struct({
  tool: upTo(PRICES.length - 1),
  status: Schema.Literals(["success", "success", "error", "timeout", "rate_limited"]),
  byProvider: Schema.Boolean,
  cost: upTo(70_000),
  duration_ms: upTo(100_000),
  input_tokens: upTo(1_000),
  output_tokens: upTo(1_000),
  minutesAgo: upTo(7 * 24 * 60 - 1)
})
type SomeCall = typeof SomeCall.Type

const SomeCalls = Schema.Array(SomeCall).check(Schema.isMinLength(1), Schema.isMaxLength(25))

const report = (
  { byProvider, cost, minutesAgo, tool, ...call }: SomeCall,
  offers: ReadonlyArray<Offer>,
  consumer: Member
) => {
  const { provider, toolId } = offers[tool]!
  const timestamp = new Date(Date.parse(NOW) - minutesAgo * 60_000).toISOString()
  const more = byProvider ? { agent_id: consumer.id, cost_microcents: cost } : {}
  const key = byProvider ? provider.key : consumer.key
  return expecting(201, { path: METER, key, json: { tool_id: toolId, timestamp, ...call, ...more } })
}

const metered = (consumer: Member, { toolId }: Offer) => ({
  path: METER,
  key: consumer.key,
  json: { tool_id: toolId }
})

const everyReceipt = Effect.fnUntraced(function* (owner: Member) {
  const all: Array<WireReceipt> = []
  let cursor = ""
  while (true) {
    const page = yield* expecting(200, { path: `${RECEIPTS}?limit=7${cursor}`, key: owner.key })
    all.push(...(listAt(page, "receipts") as unknown as ReadonlyArray<WireReceipt>))
    const next = at(page, "next_cursor")
    if (typeof next !== "string") return all
    cursor = `&cursor=${next}`
  }
})

const sumOf = <A>(list: ReadonlyArray<A>, of: (one: A) => number): number => list.reduce((sum, one) => sum + of(one), 0)

const check = Effect.fnUntraced(function* (owner: Member, period: string, days: number) {
  // A period starts at a full hour.
  const since = `${new Date(Date.parse(NOW) - days * 86_400_000).toISOString().slice(0, 13)}:00:00.000Z`
  const receipts = (yield* everyReceipt(owner)).filter((receipt) => receipt.timestamp >= since)
  const successes = receipts.filter((receipt) => receipt.status === "success").length
  const spend = sumOf(receipts, (receipt) => receipt.cost_microcents)
  const usage = yield* expecting(200, { path: `${USAGE}?period=${period}&limit=200`, key: owner.key })
  assert.include(at(usage, "summary"), {
    total_calls: receipts.length,
    successful_calls: successes,
    total_cost_microcents: spend,
    total_cost_cents: Math.floor(spend / 10_000),
    avg_latency_ms:
      receipts.length === 0 ? null : Math.round(sumOf(receipts, (receipt) => receipt.duration_ms) / receipts.length)
  })
  const record = (receipt: WireReceipt) => [
    receipt.receipt_id,
    receipt.tool_name,
    receipt.status,
    receipt.cost_microcents
  ]
  assert.deepStrictEqual(
    (at(usage, "records") as unknown as ReadonlyArray<WireReceipt>).map(record),
    receipts.map(record)
  )

  const summary = yield* expecting(200, { path: `${USAGE}/summary?period=${period}`, key: owner.key })
  assert.strictEqual(numberAt(summary, "summary", "total_spend_microcents"), spend)
  const byDay = Map.groupBy(receipts, (receipt) => receipt.timestamp.slice(0, 10))
  for (const day of listAt(summary, "calls_by_day")) {
    const ofDay = byDay.get(String(valueAt(day, "date"))) ?? []
    assert.include(day, {
      calls: ofDay.length,
      spend_microcents: sumOf(ofDay, (receipt) => receipt.cost_microcents),
      errors: ofDay.filter((receipt) => receipt.status !== "success").length
    })
  }
  const byTool = Map.groupBy(receipts, (receipt) => receipt.tool_id)
  const tools = listAt(summary, "top_tools")
  assert.strictEqual(tools.length, byTool.size)
  for (const tool of tools) {
    const ofTool = byTool.get(String(valueAt(tool, "tool_id"))) ?? []
    assert.include(tool, { calls: ofTool.length, spend_microcents: sumOf(ofTool, (one) => one.cost_microcents) })
  }
})

for (const [name, market] of everyMarket()) {
  it.layer(market, LIVE)(`Usage over ${name}`, (it) => {
    it.effect.prop(
      "equals the totals of the receipts, for the consumer and for each provider, in every period",
      { calls: SomeCalls },
      ({ calls }) =>
        Effect.gen(function* () {
          const offers: Array<Offer> = []
          const providers = [yield* aProvider(), yield* aProvider()]
          for (const [n, price_microcents] of PRICES.entries()) {
            const tool = {
              tool_name: `tool-${n}`,
              price_microcents,
              max_cost_microcents: 70_000,
              free_tier_calls: n % 2
            }
            offers.push(yield* offerOf(providers[n % 2]!, tool))
          }
          const consumer = yield* aFundedConsumer(1_000)
          for (const { id } of providers) {
            yield* expecting(201, {
              path: GRANTS,
              key: consumer.key,
              json: { provider_id: id, cap_microcents: 10_000_000, period: "total" }
            })
          }
          yield* Effect.forEach(calls, (call) => report(call, offers, consumer), { concurrency: 8 })
          for (const owner of [consumer, ...providers]) {
            for (const [period, days] of [
              ["24h", 1],
              ["7d", 7],
              ["90d", 90]
            ] as const) {
              yield* check(owner, period, days)
            }
          }
          yield* books
        }).pipe(when(NOW)),
      { arbitrary: { runs: 12 }, timeout: 180_000 }
    )

    it.effect("names the ten tools with the most calls, and counts the calls of all", () =>
      Effect.gen(function* () {
        const provider = (yield* anOffer(nowhere, { tool_name: "first" })).provider
        const consumer = yield* aFundedConsumer()
        const names = [
          "constructor",
          "__proto__",
          "toString",
          "hasOwnProperty",
          ...Array.from({ length: 8 }, (_, n) => `tool-${n}`)
        ]
        const expected = new Map<string, number>()
        for (const [n, tool_name] of names.entries()) {
          const offer = yield* offerOf(provider, { tool_name, price_microcents: n })
          for (let times = 0; times <= n; times++) yield* expecting(201, metered(consumer, offer))
          expected.set(tool_name, n + 1)
        }
        const twin = yield* anOffer(nowhere, { tool_name: "tool-7" })
        yield* expecting(201, metered(consumer, twin))
        expected.set("tool-7", 13)
        const summary = yield* expecting(200, { path: `${USAGE}/summary`, key: consumer.key })
        const top = listAt(summary, "top_tools")
        assert.deepStrictEqual(
          top.map((tool) => [valueAt(tool, "tool_name"), valueAt(tool, "calls"), valueAt(tool, "spend_microcents")]),
          names
            .map((tool, n) => [tool, n + 1, n * (n + 1)])
            .toReversed()
            .slice(0, 10)
        )
        const counted = at(summary, "calls_by_tool") as Readonly<Record<string, number>>
        assert.deepStrictEqual(new Map(Object.entries(counted).toSorted()), new Map([...expected].toSorted()))
      })
    )
  })
}

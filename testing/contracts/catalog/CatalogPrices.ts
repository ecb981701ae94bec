/**
 * Price versions of tools.
 */
import { DateTime, Duration, Effect, Option } from "effect"
import assert from "node:assert/strict"
import type { AccountStore } from "../../../domain/accounts/Account.ts"
import { CatalogStore, entryAt } from "../../../domain/catalog/CatalogStore.ts"
import type { ToolId } from "../../../domain/shared/Ids.ts"
import { Microcents, MICROCENTS_MAX } from "../../../domain/shared/Microcents.ts"
import type { UnitOfWork } from "../../../domain/shared/StoreUnavailable.ts"
import { aProvider, instant } from "../shared/AccountSamples.ts"
import { type Contract, rule } from "../shared/Contract.ts"
import { putTool } from "../shared/ToolSamples.ts"

const price = Microcents.make

export const pricesOfCatalog: Contract<AccountStore | CatalogStore | UnitOfWork> = [
  rule(
    "stores every version of the terms with maximum, policy and cost of canceled calls",
    Effect.gen(function* () {
      const store = yield* CatalogStore
      const provider = yield* aProvider()
      const steps = [
        { price: 100n, freeTierCalls: 10, day: "01", version: 1 },
        { price: 100n, freeTierCalls: 10, day: "02", version: 1 },
        { price: 101n, freeTierCalls: 10, day: "03", version: 2 },
        { price: 101n, freeTierCalls: 0, day: "04", version: 3 },
        { price: 101n, freeTierCalls: 0, maxCost: 500n, day: "05", version: 4 },
        { price: 101n, freeTierCalls: 0, maxCost: 500n, billingPolicy: "attempt", day: "06", version: 5 },
        { price: 101n, freeTierCalls: 0, maxCost: 500n, billingPolicy: "attempt", day: "07", version: 5 },
        { price: 101n, freeTierCalls: 0, canceledCallCosts: "nothing", day: "08", version: 6 },
        { price: 101n, freeTierCalls: 0, canceledCallCosts: "nothing", onCancel: "pass", day: "09", version: 7 },
        { price: 101n, freeTierCalls: 0, onCancel: "pass", day: "10", version: 8 }
      ] as const
      let id: ToolId | undefined
      for (const { day, version, ...terms } of steps) {
        const maxCost = "maxCost" in terms ? price(terms.maxCost) : undefined
        const declaration = { ...terms, price: price(terms.price), maxCost }
        const put = yield* putTool(provider, declaration, instant(`2026-11-${day}T00:00:00.000Z`))
        id = put.id
        assert.equal(put.prices.inEffect.version, version)
      }
      const history = yield* store.prices(id!, 100)
      assert.deepEqual(
        history.map((one) => [
          one.version,
          one.price,
          one.maximum,
          one.freeTierCalls,
          one.billingPolicy,
          one.cancellation
        ]),
        [
          [8, 101n, 101n, 0, "success", "price"],
          [7, 101n, 101n, 0, "success", "free"],
          [6, 101n, 101n, 0, "success", "outcome"],
          [5, 101n, 500n, 0, "attempt", "outcome"],
          [4, 101n, 500n, 0, "success", "outcome"],
          [3, 101n, 101n, 0, "success", "outcome"],
          [2, 101n, 101n, 10, "success", "outcome"],
          [1, 100n, 100n, 10, "success", "outcome"]
        ]
      )
      assert.deepEqual(
        history.map((one) => one.effectiveFrom),
        ["10", "09", "08", "06", "05", "04", "03", "01"].map((day) => instant(`2026-11-${day}T00:00:00.000Z`))
      )
      assert.deepEqual(yield* store.prices(id!, 2), history.slice(0, 2))
    })
  ),

  rule(
    "keeps announced terms beside those in effect, and promotes them at their time",
    Effect.gen(function* () {
      const store = yield* CatalogStore
      const provider = yield* aProvider()
      const [start, due] = [instant("2026-11-01T00:00:00.000Z"), instant("2026-11-02T00:00:00.000Z")]
      const { id } = yield* putTool(provider, { price: price(100n), freeTierCalls: 0 }, start)
      const day = Duration.days(1)
      const { prices } = yield* putTool(
        provider,
        { price: price(MICROCENTS_MAX), freeTierCalls: 0, billingPolicy: "attempt", onCancel: "pass" },
        start,
        day
      )
      const entry = Option.getOrThrow(yield* store.find(id))
      assert.deepEqual(entry.prices, prices)
      assert.deepEqual(entry.prices.upcoming?.effectiveFrom, due)
      assert.deepEqual([entry.price, entry.cancellation], [100n, "outcome"])
      assert.equal(entry.tool.declared.onCancel, "pass")
      const filter = { category: undefined, providerId: provider.id, maxPrice: price(100n), tokens: [] }
      const page = { limit: 1, offset: 0, after: undefined }
      assert.equal((yield* store.search(filter, "price", page)).total, 1)
      assert.equal(yield* store.promote(DateTime.subtract(due, { milliseconds: 1 }), 1_000), 0)
      assert.equal(yield* store.promote(due, 1_000), 1)
      assert.equal(yield* store.promote(due, 1_000), 0)
      const promoted = Option.getOrThrow(yield* store.find(id))
      assert.deepEqual(promoted, entryAt(entry, due.epochMilliseconds))
      assert.deepEqual(
        [promoted.price, promoted.billingPolicy, promoted.cancellation],
        [MICROCENTS_MAX, "attempt", "price"]
      )
      assert.equal((yield* store.search(filter, "price", page)).total, 0)
    })
  ),

  rule(
    "judges by the output schema in effect until an announced one applies",
    Effect.gen(function* () {
      const store = yield* CatalogStore
      const provider = yield* aProvider()
      const [start, due] = [instant("2026-11-01T00:00:00.000Z"), instant("2026-11-02T00:00:00.000Z")]
      const [strict, loose] = [{ type: "object", required: ["n"] }, {}]
      const declared = { price: price(100n), billingPolicy: "valid_output" } as const
      const { id } = yield* putTool(provider, { ...declared, outputSchema: strict }, start)
      const { prices } = yield* putTool(provider, { ...declared, outputSchema: loose }, start, Duration.days(1))
      const entry = Option.getOrThrow(yield* store.find(id))
      assert.deepEqual(entry.prices, prices)
      assert.deepEqual(
        [entry.outputSchema, entry.tool.outputSchema, entry.tool.declared.outputSchema],
        [strict, strict, loose]
      )
      const due1 = entryAt(entry, due.epochMilliseconds)
      assert.deepEqual([due1.priceVersion, due1.tool.outputSchema], [2, loose])
      yield* store.promote(due, 1_000)
      assert.deepEqual(Option.getOrThrow(yield* store.find(id)), due1)

      yield* putTool(provider, { ...declared, outputSchema: strict, billingPolicy: "success" }, due, Duration.days(1))
      const before = Option.getOrThrow(yield* store.find(id))
      assert.deepEqual([before.billingPolicy, before.tool.outputSchema], ["valid_output", loose])
      yield* store.withdraw(provider.id, id, due)
      const withdrawn = Option.getOrThrow(yield* store.find(id))
      assert.deepEqual([withdrawn.prices.upcoming, withdrawn.tool.outputSchema], [undefined, loose])
      yield* putTool(provider, { ...declared, outputSchema: strict, billingPolicy: "success" }, due)
      assert.deepEqual(Option.getOrThrow(yield* store.find(id)).tool.outputSchema, strict)
      assert.equal(
        (yield* store.prices(id, 10)).some((version) => "outputSchema" in version),
        false
      )
    })
  ),

  rule(
    "marks announced terms as replaced by a change or a withdrawal, and reuses no version number",
    Effect.gen(function* () {
      const store = yield* CatalogStore
      const provider = yield* aProvider()
      const start = instant("2026-11-01T00:00:00.000Z")
      const day = Duration.days(1)
      const { id } = yield* putTool(provider, { price: price(100n) }, start)
      yield* putTool(provider, { price: price(200n) }, start, day)
      yield* putTool(provider, { price: price(300n) }, start, day)
      const at = instant("2026-11-01T12:00:00.000Z")
      yield* store.withdraw(provider.id, id, at)
      const history = yield* store.prices(id, 10)
      assert.deepEqual(
        history.map((one) => [one.version, one.price, one.replacedAt]),
        [
          [3, price(300n), at],
          [2, price(200n), start],
          [1, price(100n), undefined]
        ]
      )
      assert.equal(Option.getOrThrow(yield* store.find(id)).prices.upcoming, undefined)
      const { prices } = yield* putTool(provider, { price: price(300n) }, at, day)
      assert.deepEqual([prices.upcoming?.version, prices.inEffect.price], [4, 100n])
      assert.deepEqual(prices.upcoming?.effectiveFrom, DateTime.addDuration(at, day))
    })
  ),

  rule(
    "keeps announced terms that took effect before the withdrawal",
    Effect.gen(function* () {
      const store = yield* CatalogStore
      const provider = yield* aProvider()
      const start = instant("2026-11-01T00:00:00.000Z")
      const { id } = yield* putTool(provider, { price: price(100n) }, start)
      yield* putTool(provider, { price: price(200n) }, start, Duration.days(1))
      yield* store.withdraw(provider.id, id, instant("2026-11-03T00:00:00.000Z"))
      assert.equal(Option.getOrThrow(yield* store.find(id)).prices.upcoming?.price, 200n)
      assert.equal((yield* store.prices(id, 1))[0]?.replacedAt, undefined)
    })
  ),

  rule(
    "keeps price versions in chronological order when clocks disagree",
    Effect.gen(function* () {
      const store = yield* CatalogStore
      const provider = yield* aProvider()
      const [early, late] = [instant("2026-11-01T00:00:00.000Z"), instant("2026-11-02T00:00:00.000Z")]
      yield* putTool(provider, { price: price(1n) }, late)
      const { id } = yield* putTool(provider, { price: price(2n) }, early)
      const history = yield* store.prices(id, 10)
      assert.deepEqual(
        history.map((version) => [version.effectiveFrom, version.replacedAt]),
        [
          [late, undefined],
          [late, undefined]
        ]
      )
    })
  ),

  rule(
    "numbers price versions without a gap under concurrent updates",
    Effect.gen(function* () {
      const store = yield* CatalogStore
      const provider = yield* aProvider()
      const prices = Array.from({ length: 24 }, (_, n) => price(BigInt(n % 6)))
      const at = instant("2026-11-01T00:00:00.000Z")
      const outcomes = yield* Effect.forEach(prices, (one) => putTool(provider, { price: one }, at), {
        concurrency: "unbounded"
      })
      const ids = new Set(outcomes.map((outcome) => outcome.id))
      assert.equal(ids.size, 1)
      assert.equal(outcomes.filter((outcome) => outcome.action === "created").length, 1)
      const [id] = ids
      const history = (yield* store.prices(id!, 100)).toReversed()
      assert.deepEqual(
        history.map((one) => one.version),
        history.map((_, n) => n + 1)
      )
      for (const [n, one] of history.entries()) assert.notEqual(one.price, history[n - 1]?.price)
      const entry = Option.getOrThrow(yield* store.find(id!))
      assert.equal(entry.priceVersion, history.length)
      assert.equal(entry.price, history.at(-1)!.price)
    })
  )
]

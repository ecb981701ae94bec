/**
 * Budgets: limits on what calls cost and hold.
 */
import { assert, it } from "@effect/vitest"
import { DateTime, Effect, type Layer } from "effect"
import { type Budget, BudgetId, BudgetStore } from "../../domain/ledger/BudgetStore.ts"
import { Ledger } from "../../domain/ledger/Ledger.ts"
import { CallStore, type OpenCall } from "../../domain/metering/CallStore.ts"
import { Entropy } from "../../domain/shared/Entropy.ts"
import type { ConsumerId } from "../../domain/shared/Ids.ts"
import { LIVE } from "../support/PostgresTest.ts"
import type { LedgerPorts } from "./ledgerPorts.ts"
import {
  aCall,
  aConsumerId,
  aProviderId,
  aToolId,
  atOnce,
  closingOf,
  consumerWith,
  money,
  opened,
  OPENED_AT,
  settled,
  tagsOf
} from "./ledgerSamples.ts"

const budgetOf = Effect.fnUntraced(function* (consumerId: ConsumerId, cap: number, terms: Partial<Budget> = {}) {
  const budget: Budget = {
    id: BudgetId.make(yield* (yield* Entropy).uuid),
    consumerId,
    cap: money(cap),
    period: "total",
    toolId: undefined,
    providerId: undefined,
    createdAt: OPENED_AT,
    ...terms
  }
  return budget
})

const budget = Effect.fnUntraced(function* (consumerId: ConsumerId, cap: number, terms: Partial<Budget> = {}) {
  const budget = yield* budgetOf(consumerId, cap, terms)
  assert.isTrue(yield* (yield* BudgetStore).create(budget, 20))
  return budget
})

export const budgetsOfCallsContract = (name: string, ports: Layer.Layer<LedgerPorts>) =>
  it.layer(ports, LIVE)(`Budgets of calls over ${name}`, (it) => {
    const openTag = Effect.fnUntraced(function* (consumerId: ConsumerId, changes: Partial<OpenCall> = {}) {
      return (yield* (yield* CallStore).open(yield* aCall(consumerId, changes)))._tag
    })

    it.effect("rejects a call above a budget without a hold, and names the budget", () =>
      Effect.gen(function* () {
        const calls = yield* CallStore
        const consumerId = yield* consumerWith(100_000)
        const { id } = yield* budget(consumerId, 2_500, { period: "month" })
        const first = yield* aCall(consumerId)
        yield* opened(first)
        yield* settled(yield* aCall(consumerId), { cost: 900 })
        assert.deepStrictEqual(yield* calls.open(yield* aCall(consumerId)), {
          _tag: "BudgetExceeded",
          budgetId: id,
          capMicrocents: 2_500n,
          leftMicrocents: 600n,
          resetsAt: "2026-12-01T00:00:00.000Z"
        })
        assert.strictEqual((yield* (yield* Ledger).wallet(consumerId)).held, 1_000n)
        yield* calls.close(yield* closingOf(first, { cost: 0, status: "error" }))
        assert.strictEqual(yield* openTag(consumerId), "Opened")
      })
    )

    it.effect("counts only calls of its tool or provider, and requires room in every budget that covers a call", () =>
      Effect.gen(function* () {
        const consumerId = yield* consumerWith(100_000)
        const [toolId, providerId] = [yield* aToolId, yield* aProviderId]
        yield* budget(consumerId, 1_000, { toolId })
        yield* budget(consumerId, 2_000, { providerId })
        yield* budget(consumerId, 4_000)
        assert.strictEqual(yield* openTag(consumerId, { toolId, providerId }), "Opened")
        assert.strictEqual(yield* openTag(consumerId, { toolId }), "BudgetExceeded")
        assert.strictEqual(yield* openTag(consumerId, { providerId }), "Opened")
        assert.strictEqual(yield* openTag(consumerId, { providerId }), "BudgetExceeded")
        assert.strictEqual(yield* openTag(consumerId), "Opened")
        assert.strictEqual(yield* openTag(consumerId), "Opened")
        assert.strictEqual(yield* openTag(consumerId), "BudgetExceeded")
        assert.strictEqual(yield* openTag(consumerId, { holdAmount: money(0) }), "Opened")
        assert.strictEqual(yield* openTag(consumerId, { freeTierCalls: 1 }), "Opened")
      })
    )

    it.effect("resets with its period, and keeps the holds of open calls", () =>
      Effect.gen(function* () {
        const calls = yield* CallStore
        const { list } = yield* BudgetStore
        const consumerId = yield* consumerWith(100_000)
        yield* budget(consumerId, 3_000, { period: "day" })
        const openedAt = (iso: string) => ({ openedAt: DateTime.makeUnsafe(iso) })
        const late = openedAt("2098-05-01T23:59:59.999Z")
        yield* settled(yield* aCall(consumerId, { ...late, holdAmount: money(2_000) }))
        const open = yield* aCall(consumerId, late)
        yield* opened(open)
        assert.strictEqual(yield* openTag(consumerId, late), "BudgetExceeded")
        const nextDay = openedAt("2098-05-02T00:00:00.000Z")
        assert.strictEqual(yield* openTag(consumerId, { ...nextDay, holdAmount: money(2_001) }), "BudgetExceeded")
        assert.strictEqual(yield* openTag(consumerId, { ...nextDay, holdAmount: money(2_000) }), "Opened")
        yield* calls.close(yield* closingOf(open))
        const [standing] = yield* list(consumerId, nextDay.openedAt)
        assert.deepStrictEqual([standing?.spentMicrocents, standing?.heldMicrocents], [1_000n, 2_000n])
      })
    )

    it.effect("is exact for concurrent calls, and releases what they did not cost", () =>
      Effect.gen(function* () {
        const calls = yield* CallStore
        const consumerId = yield* consumerWith(1_000_000)
        yield* budget(consumerId, 10_999)
        const crowd = yield* Effect.forEach(Array.from({ length: 64 }), () => aCall(consumerId))
        const answers = yield* Effect.forEach(crowd, calls.open, { concurrency: "unbounded" })
        assert.deepStrictEqual(tagsOf(answers), { Opened: 10, BudgetExceeded: 54 })
        const inside = crowd.filter((_, n) => answers[n]!._tag === "Opened")
        yield* Effect.forEach(inside, (call) => Effect.flatMap(closingOf(call, { cost: 100 }), calls.close), {
          concurrency: "unbounded"
        })
        const [standing] = yield* (yield* BudgetStore).list(consumerId, OPENED_AT)
        assert.deepInclude(standing, { spentMicrocents: 1_000n, heldMicrocents: 0n })
      })
    )

    it.effect("can be changed and removed while calls are open", () =>
      Effect.gen(function* () {
        const calls = yield* CallStore
        const budgets = yield* BudgetStore
        const consumerId = yield* consumerWith(100_000)
        const { id } = yield* budget(consumerId, 1_000)
        const call = yield* aCall(consumerId)
        yield* opened(call)
        assert.isTrue(yield* budgets.changeCap(consumerId, id, money(500)))
        assert.deepInclude((yield* budgets.list(consumerId, OPENED_AT))[0], { heldMicrocents: 1_000n, cap: money(500) })
        assert.strictEqual(yield* openTag(consumerId), "BudgetExceeded")
        assert.isTrue(yield* budgets.remove(consumerId, id))
        assert.strictEqual(yield* openTag(consumerId), "Opened")
        assert.strictEqual((yield* calls.close(yield* closingOf(call)))._tag, "Closed")
        assert.isFalse(yield* budgets.remove(consumerId, id))
        assert.isFalse(yield* budgets.changeCap(consumerId, id, money(1)))
      })
    )

    it.effect("lists every field of a consumer's budgets, oldest first, and limits their number", () =>
      Effect.gen(function* () {
        const { create, list } = yield* BudgetStore
        const consumerId = yield* aConsumerId
        const scoped = yield* budgetOf(consumerId, 7, {
          toolId: yield* aToolId,
          providerId: yield* aProviderId,
          period: "day",
          createdAt: DateTime.makeUnsafe("2026-01-02T03:04:05.678Z")
        })
        const unscoped = yield* budgetOf(consumerId, 0, { createdAt: DateTime.makeUnsafe("2026-01-01T00:00:00.000Z") })
        for (const budget of [scoped, unscoped]) assert.isTrue(yield* create(budget, 20))
        const fresh = { spentMicrocents: 0n, heldMicrocents: 0n }
        assert.deepStrictEqual(yield* list(consumerId, OPENED_AT), [
          { ...unscoped, ...fresh },
          { ...scoped, ...fresh }
        ])
        const kept = yield* atOnce(25, () => Effect.flatMap(budgetOf(consumerId, 1), (budget) => create(budget, 20)))
        assert.lengthOf(
          kept.filter((isKept) => isKept),
          18
        )
        assert.lengthOf(yield* list(consumerId, OPENED_AT), 20)
        assert.deepStrictEqual(yield* list(yield* aConsumerId, OPENED_AT), [])
      })
    )
  })

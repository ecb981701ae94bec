/**
 * Budgets: limits on what calls cost and hold.
 */
import { DateTime, Effect } from "effect"
import assert from "node:assert/strict"
import { type Budget, BudgetId, BudgetStore } from "../../../domain/ledger/Budgets.ts"
import { Ledger } from "../../../domain/ledger/Ledger.ts"
import { CallStore, type OpenCall } from "../../../domain/metering/CallStore.ts"
import { Entropy } from "../../../domain/shared/Cryptography.ts"
import type { ConsumerId } from "../../../domain/shared/Ids.ts"
import { aCall, aToolId, type Books, callRule, closingOf, opened, settled, tagsOf } from "../shared/CallSamples.ts"
import type { Contract } from "../shared/Contract.ts"
import { aConsumerId, aProviderId, atOnce, consumerWith, money, OPENED_AT } from "../shared/LedgerSamples.ts"

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
  assert.equal(yield* (yield* BudgetStore).create(budget, 20), true)
  return budget
})

const openTag = Effect.fnUntraced(function* (consumerId: ConsumerId, changes: Partial<OpenCall> = {}) {
  return (yield* (yield* CallStore).open(yield* aCall(consumerId, changes)))._tag
})

export const budgetsOfCalls: Contract<Books> = [
  callRule(
    "rejects a call above a budget without a hold, and names the budget",
    Effect.gen(function* () {
      const calls = yield* CallStore
      const consumerId = yield* consumerWith(100_000)
      const { id } = yield* budget(consumerId, 2_500, { period: "month" })
      const first = yield* aCall(consumerId)
      yield* opened(first)
      yield* settled(yield* aCall(consumerId), { cost: 900 })
      assert.deepEqual(yield* calls.open(yield* aCall(consumerId)), {
        _tag: "BudgetExceeded",
        budgetId: id,
        capMicrocents: 2_500n,
        leftMicrocents: 600n,
        resetsAt: "2026-12-01T00:00:00.000Z"
      })
      assert.equal((yield* (yield* Ledger).wallet(consumerId)).held, 1_000n)
      yield* calls.close(yield* closingOf(first, { cost: 0, status: "error" }))
      assert.equal(yield* openTag(consumerId), "Opened")
    })
  ),

  callRule(
    "counts only calls of its tool or provider, and requires room in every budget that covers a call",
    Effect.gen(function* () {
      const consumerId = yield* consumerWith(100_000)
      const [toolId, providerId] = [yield* aToolId, yield* aProviderId]
      yield* budget(consumerId, 1_000, { toolId })
      yield* budget(consumerId, 2_000, { providerId })
      yield* budget(consumerId, 4_000)
      assert.equal(yield* openTag(consumerId, { toolId, providerId }), "Opened")
      assert.equal(yield* openTag(consumerId, { toolId }), "BudgetExceeded")
      assert.equal(yield* openTag(consumerId, { providerId }), "Opened")
      assert.equal(yield* openTag(consumerId, { providerId }), "BudgetExceeded")
      assert.equal(yield* openTag(consumerId), "Opened")
      assert.equal(yield* openTag(consumerId), "Opened")
      assert.equal(yield* openTag(consumerId), "BudgetExceeded")
      assert.equal(yield* openTag(consumerId, { holdAmount: money(0) }), "Opened")
      assert.equal(yield* openTag(consumerId, { freeTierCalls: 1 }), "Opened")
    })
  ),

  callRule(
    "resets with its period, and keeps the holds of open calls",
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
      assert.equal(yield* openTag(consumerId, late), "BudgetExceeded")
      const nextDay = openedAt("2098-05-02T00:00:00.000Z")
      assert.equal(yield* openTag(consumerId, { ...nextDay, holdAmount: money(2_001) }), "BudgetExceeded")
      assert.equal(yield* openTag(consumerId, { ...nextDay, holdAmount: money(2_000) }), "Opened")
      yield* calls.close(yield* closingOf(open))
      const [standing] = yield* list(consumerId, nextDay.openedAt)
      assert.deepEqual([standing?.spentMicrocents, standing?.heldMicrocents], [1_000n, 2_000n])
    })
  ),

  callRule(
    "is exact for concurrent calls, and releases what they did not cost",
    Effect.gen(function* () {
      const calls = yield* CallStore
      const consumerId = yield* consumerWith(1_000_000)
      yield* budget(consumerId, 10_999)
      const crowd = yield* Effect.forEach(Array.from({ length: 64 }), () => aCall(consumerId))
      const answers = yield* Effect.forEach(crowd, calls.open, { concurrency: "unbounded" })
      assert.deepEqual(tagsOf(answers), { Opened: 10, BudgetExceeded: 54 })
      const inside = crowd.filter((_, n) => answers[n]!._tag === "Opened")
      yield* Effect.forEach(inside, (call) => Effect.flatMap(closingOf(call, { cost: 100 }), calls.close), {
        concurrency: "unbounded"
      })
      const [standing] = yield* (yield* BudgetStore).list(consumerId, OPENED_AT)
      assert.deepEqual([standing!.spentMicrocents, standing!.heldMicrocents], [1_000n, 0n])
    })
  ),

  callRule(
    "can be changed and removed while calls are open",
    Effect.gen(function* () {
      const calls = yield* CallStore
      const budgets = yield* BudgetStore
      const consumerId = yield* consumerWith(100_000)
      const { id } = yield* budget(consumerId, 1_000)
      const call = yield* aCall(consumerId)
      yield* opened(call)
      assert.equal(yield* budgets.changeCap(consumerId, id, money(500)), true)
      assert.partialDeepStrictEqual((yield* budgets.list(consumerId, OPENED_AT))[0], {
        heldMicrocents: 1_000n,
        cap: money(500)
      })
      assert.equal(yield* openTag(consumerId), "BudgetExceeded")
      assert.equal(yield* budgets.remove(consumerId, id), true)
      assert.equal(yield* openTag(consumerId), "Opened")
      assert.equal((yield* calls.close(yield* closingOf(call)))._tag, "Closed")
      assert.equal(yield* budgets.remove(consumerId, id), false)
      assert.equal(yield* budgets.changeCap(consumerId, id, money(1)), false)
    })
  ),

  callRule(
    "lists every field of a consumer's budgets, oldest first, and limits their number",
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
      for (const budget of [scoped, unscoped]) assert.equal(yield* create(budget, 20), true)
      const fresh = { spentMicrocents: 0n, heldMicrocents: 0n }
      assert.deepEqual(yield* list(consumerId, OPENED_AT), [
        { ...unscoped, ...fresh },
        { ...scoped, ...fresh }
      ])
      const kept = yield* atOnce(25, () => Effect.flatMap(budgetOf(consumerId, 1), (budget) => create(budget, 20)))
      assert.equal(kept.filter((isKept) => isKept).length, 18)
      assert.equal((yield* list(consumerId, OPENED_AT)).length, 20)
      assert.deepEqual(yield* list(yield* aConsumerId, OPENED_AT), [])
    })
  )
]

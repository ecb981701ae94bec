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
import {
  aCall,
  aLevelId,
  aToolId,
  type Books,
  callRule,
  closingOf,
  opened,
  settled,
  tagsOf
} from "../shared/CallSamples.ts"
import type { Contract } from "../shared/Contract.ts"
import { aConsumerId, aProviderId, atOnce, consumerWith, money, OPENED_AT } from "../shared/LedgerSamples.ts"

const budgetOf = Effect.fnUntraced(function* (consumerId: ConsumerId, cap: number, terms: Partial<Budget> = {}) {
  const budget: Budget = {
    id: BudgetId.make(yield* (yield* Entropy).uuid),
    consumerId,
    cap: money(cap),
    period: "total",
    levelId: undefined,
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
        levelId: undefined,
        period: "month",
        capMicrocents: 2_500n,
        spentMicrocents: 900n,
        heldMicrocents: 1_000n,
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
    "resets with its period, and counts a call in the period in which it was opened",
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
      assert.equal(yield* openTag(consumerId, { ...nextDay, holdAmount: money(3_001) }), "BudgetExceeded")
      const today = yield* aCall(consumerId, { ...nextDay, holdAmount: money(2_000) })
      yield* opened(today)
      yield* calls.close(yield* closingOf(open))
      const standing = Effect.map(list(consumerId, nextDay.openedAt), ([only]) => [
        only?.spentMicrocents,
        only?.heldMicrocents
      ])
      assert.deepEqual(yield* standing, [0n, 2_000n])
      yield* calls.close(yield* closingOf(today, { cost: 1_500 }))
      assert.deepEqual(yield* standing, [1_500n, 0n])
    })
  ),

  callRule(
    "begins hours at minute 0, weeks on Monday, days and months at midnight UTC",
    Effect.gen(function* () {
      const reset = (period: Budget["period"], before: string, after: string) =>
        Effect.gen(function* () {
          const consumerId = yield* consumerWith(100_000)
          yield* budget(consumerId, 1_000, { period, createdAt: DateTime.makeUnsafe("2098-01-01T00:00:00.000Z") })
          const at = (iso: string) => openTag(consumerId, { openedAt: DateTime.makeUnsafe(iso) })
          const tags = [yield* at(before), yield* at(before), yield* at(after), yield* at(after)]
          assert.deepEqual(tags, ["Opened", "BudgetExceeded", "Opened", "BudgetExceeded"], period)
        })
      yield* reset("hour", "2098-05-01T10:59:59.999Z", "2098-05-01T11:00:00.000Z")
      yield* reset("day", "2098-05-01T23:59:59.999Z", "2098-05-02T00:00:00.000Z")
      yield* reset("week", "2098-05-04T23:59:59.999Z", "2098-05-05T00:00:00.000Z")
      yield* reset("month", "2098-05-31T23:59:59.999Z", "2098-06-01T00:00:00.000Z")
    })
  ),

  callRule(
    "counts a call of a node whose clock is behind in the period that another node has begun",
    Effect.gen(function* () {
      const calls = yield* CallStore
      const { list } = yield* BudgetStore
      const consumerId = yield* consumerWith(100_000)
      const toolId = yield* aToolId
      const createdAt = DateTime.makeUnsafe("2098-01-01T00:00:00.000Z")
      yield* budget(consumerId, 2_000, { period: "hour", createdAt })
      yield* budget(consumerId, 2_000, { period: "day", createdAt, toolId })
      const behind = { openedAt: DateTime.makeUnsafe("2098-05-01T23:59:59.000Z"), toolId }
      const ahead = { openedAt: DateTime.makeUnsafe("2098-05-02T00:00:00.000Z") }
      yield* opened(yield* aCall(consumerId, ahead))
      const late = yield* aCall(consumerId, behind)
      yield* opened(late)
      assert.equal(yield* openTag(consumerId, behind), "BudgetExceeded")
      assert.equal(yield* openTag(consumerId, { ...ahead, toolId }), "BudgetExceeded")
      yield* calls.close(yield* closingOf(late, { cost: 400 }))
      const held = (yield* list(consumerId, ahead.openedAt)).map((one) => [one.spentMicrocents, one.heldMicrocents])
      assert.deepEqual(held[0], [400n, 1_000n])
      assert.equal(held[1]![1], 0n)
    })
  ),

  callRule(
    "requires room in the budgets of the account and of each level of the caller, from the top",
    Effect.gen(function* () {
      const calls = yield* CallStore
      const { ofLevels } = yield* BudgetStore
      const consumerId = yield* consumerWith(100_000)
      const [team, key, run, other] = [yield* aLevelId, yield* aLevelId, yield* aLevelId, yield* aLevelId]
      const ofAccount = yield* budget(consumerId, 9_000)
      const ofTeam = yield* budget(consumerId, 4_000, { levelId: team, period: "day" })
      const ofRun = yield* budget(consumerId, 2_000, { levelId: run })
      const closed = yield* budget(consumerId, 0, { levelId: other })
      const below = { levels: [team, key, run] }
      const first = yield* aCall(consumerId, below)
      yield* opened(first)
      yield* opened(yield* aCall(consumerId, below))
      const refusedBy = Effect.fnUntraced(function* (levels: OpenCall["levels"]) {
        const answer = yield* calls.open(yield* aCall(consumerId, { levels }))
        return answer._tag === "BudgetExceeded" ? [answer.budgetId, answer.levelId] : answer._tag
      })
      assert.deepEqual(yield* refusedBy([team, key, run]), [ofRun.id, run])
      assert.deepEqual(yield* refusedBy([other]), [closed.id, other])
      assert.equal(yield* refusedBy([team, key]), "Opened")
      assert.equal(yield* refusedBy([team]), "Opened")
      assert.deepEqual(yield* refusedBy([team, key, run]), [ofTeam.id, team])
      for (let n = 0; n < 5; n++) assert.equal(yield* refusedBy(undefined), "Opened")
      assert.deepEqual(yield* refusedBy([team, key, run]), [ofAccount.id, undefined])
      yield* calls.close(yield* closingOf(first, { cost: 300 }))
      const spent = (yield* ofLevels(consumerId, [run, team, key], OPENED_AT)).map((one) => [
        one.levelId,
        one.spentMicrocents,
        one.heldMicrocents
      ])
      assert.deepEqual(
        spent.toSorted(),
        [
          [team, 300n, 3_000n],
          [run, 300n, 1_000n]
        ].toSorted()
      )
    })
  ),

  callRule(
    "is exact for concurrent calls of sibling levels under one limit",
    Effect.gen(function* () {
      const calls = yield* CallStore
      const consumerId = yield* consumerWith(1_000_000)
      const team = yield* aLevelId
      yield* budget(consumerId, 10_999, { levelId: team })
      const crowd = yield* Effect.forEach(Array.from({ length: 64 }), () =>
        Effect.flatMap(aLevelId, (run) => aCall(consumerId, { levels: [team, run] }))
      )
      const answers = yield* Effect.forEach(crowd, calls.open, { concurrency: "unbounded" })
      assert.deepEqual(tagsOf(answers), { Opened: 10, BudgetExceeded: 54 })
    })
  ),

  callRule(
    "replaces the budgets of a level by period, and keeps what counts toward those that stay",
    Effect.gen(function* () {
      const { list, ofLevels, replace } = yield* BudgetStore
      const consumerId = yield* consumerWith(100_000)
      const levelId = yield* aLevelId
      const terms = { levelId }
      const day = yield* budgetOf(consumerId, 5_000, { ...terms, period: "day" })
      const total = yield* budgetOf(consumerId, 5_000, terms)
      yield* replace(consumerId, levelId, [day, total])
      yield* settled(yield* aCall(consumerId, { levels: [levelId] }), { cost: 900 })
      const again = yield* budgetOf(consumerId, 2_000, { ...terms, period: "day" })
      const week = yield* budgetOf(consumerId, 3_000, { ...terms, period: "week" })
      yield* replace(consumerId, levelId, [again, week])
      const standing = (yield* ofLevels(consumerId, [levelId], OPENED_AT)).map((one) => [
        one.period,
        one.id,
        one.cap,
        one.spentMicrocents
      ])
      assert.deepEqual(standing.toSorted(), [
        ["day", day.id, money(2_000), 900n],
        ["week", week.id, money(3_000), 0n]
      ])
      assert.deepEqual(yield* list(consumerId, OPENED_AT), [])
      yield* replace(consumerId, levelId, [])
      assert.deepEqual(yield* ofLevels(consumerId, [levelId], OPENED_AT), [])
      assert.equal(yield* openTag(consumerId, { levels: [levelId] }), "Opened")
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

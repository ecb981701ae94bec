/**
 * Opening calls: holds, rejections, and what the store says of open calls.
 */
import assert from "node:assert/strict"
import { DateTime, Effect, Exit } from "effect"
import { Ledger } from "../../../domain/ledger/Ledger.ts"
import { LedgerStore } from "../../../domain/ledger/LedgerStore.ts"
import { transferOfCall } from "../../../domain/ledger/Transfer.ts"
import { CallStore } from "../../../domain/metering/CallStore.ts"
import type { Contract } from "../shared/Contract.ts"
import { type Books, callRule, aCall, closingOf, opened, tagsOf } from "../shared/CallSamples.ts"
import { aConsumerId, atOnce, consumerWith, money, OPENED_AT } from "../shared/LedgerSamples.ts"

export const openings: Contract<Books> = [
  callRule(
    "holds the price of an open call, and posts it to provider and platform when the call is closed",
    Effect.gen(function* () {
      const ledger = yield* Ledger
      const consumerId = yield* consumerWith(10_000)
      const call = yield* aCall(consumerId, { holdAmount: money(1_005) })
      assert.deepEqual(yield* opened(call), {
        _tag: "Opened",
        held: money(1_005),
        free: false,
        freeCallsLeft: undefined,
        availableMicrocents: 8_995n
      })
      assert.deepEqual(yield* ledger.wallet(consumerId), {
        credits: 10_000n,
        debits: 0n,
        held: 1_005n,
        available: 8_995n
      })

      const closing = yield* closingOf(call)
      assert.deepEqual(yield* (yield* CallStore).close(closing), {
        _tag: "Closed",
        now: true,
        availableMicrocents: 8_995n
      })
      assert.deepEqual(yield* ledger.wallet(consumerId), {
        credits: 10_000n,
        debits: 1_005n,
        held: 0n,
        available: 8_995n
      })
      assert.equal((yield* ledger.provider(call.providerId)).balance, 904n)
      const common = {
        transferId: transferOfCall(call.invocationId),
        debit: "wallet",
        consumerId,
        providerId: call.providerId,
        reference: undefined,
        effectiveAt: OPENED_AT,
        recordedAt: DateTime.add(OPENED_AT, { milliseconds: 130 })
      } as const
      assert.deepEqual(yield* (yield* LedgerStore).transfers(common.transferId), [
        { ...common, leg: 1, kind: "call", credit: "provider", amount: money(904), lot: "2026-11-20" },
        { ...common, leg: 2, kind: "fee", credit: "platform_fee", amount: money(101), lot: undefined }
      ])
    })
  ),

  callRule(
    "opens a call at no price without a wallet, and closes it without transfers",
    Effect.gen(function* () {
      const consumerId = yield* aConsumerId
      const call = yield* aCall(consumerId, { holdAmount: money(0) })
      const answer = yield* opened(call)
      assert.deepEqual(
        [answer.held, answer.free, answer.freeCallsLeft, answer.availableMicrocents],
        [money(0), false, undefined, 0n]
      )
      const closing = yield* closingOf(call)
      assert.deepEqual(yield* (yield* CallStore).close(closing), {
        _tag: "Closed",
        now: true,
        availableMicrocents: 0n
      })
      assert.deepEqual(yield* (yield* LedgerStore).transfers(transferOfCall(call.invocationId)), [])
    })
  ),

  callRule(
    "rejects a call above the available balance, and changes nothing",
    Effect.gen(function* () {
      const consumerId = yield* consumerWith(999)
      const calls = yield* CallStore
      const call = yield* aCall(consumerId)
      assert.deepEqual(yield* calls.open(call), {
        _tag: "InsufficientFunds",
        availableMicrocents: 999n,
        neededMicrocents: 1_000n
      })
      assert.equal((yield* (yield* Ledger).wallet(consumerId)).held, 0n)
      assert.equal(Exit.isFailure(yield* Effect.exit(calls.close(yield* closingOf(call)))), true)
    })
  ),

  callRule(
    "opens exactly as many concurrent calls as the balance covers",
    Effect.gen(function* () {
      const calls = yield* CallStore
      const consumerId = yield* consumerWith(10_500)
      const answers = yield* atOnce(64, () => Effect.flatMap(aCall(consumerId), calls.open))
      assert.deepEqual(tagsOf(answers), { Opened: 10, InsufficientFunds: 54 })
      assert.deepEqual(yield* (yield* Ledger).wallet(consumerId), {
        credits: 10_500n,
        debits: 0n,
        held: 10_000n,
        available: 500n
      })
    })
  ),

  callRule(
    "opens calls in the order of their arrival, also after one that was rejected",
    Effect.gen(function* () {
      const calls = yield* CallStore
      const consumerId = yield* consumerWith(9)
      const prices = [5, 10, 3, 2, 1]
      const answers = yield* atOnce(prices.length, (n) =>
        Effect.flatMap(aCall(consumerId, { holdAmount: money(prices[n]!) }), calls.open)
      )
      assert.deepEqual(
        answers.map((answer) => [
          answer._tag,
          "availableMicrocents" in answer ? answer.availableMicrocents : undefined
        ]),
        [
          ["Opened", 4n],
          ["InsufficientFunds", 4n],
          ["Opened", 1n],
          ["InsufficientFunds", 1n],
          ["Opened", 0n]
        ]
      )
    })
  ),

  callRule(
    "rejects no call for the balance of another consumer",
    Effect.gen(function* () {
      const calls = yield* CallStore
      const [poor, rich] = [yield* consumerWith(0), yield* consumerWith(100_000)]
      const answers = yield* atOnce(40, (n) => Effect.flatMap(aCall(n % 2 === 0 ? poor : rich), calls.open))
      assert.deepEqual(tagsOf(answers.filter((_, n) => n % 2 === 0)), { InsufficientFunds: 20 })
      assert.deepEqual(tagsOf(answers.filter((_, n) => n % 2 === 1)), { Opened: 20 })
    })
  ),

  callRule(
    "returns the available balance and used free calls without a hold",
    Effect.gen(function* () {
      const calls = yield* CallStore
      const consumerId = yield* consumerWith(10_000)
      const call = yield* aCall(consumerId)
      yield* opened(call)
      const free = yield* aCall(consumerId, { freeTierCalls: 5 })
      yield* opened(free)
      const standing = { availableMicrocents: 9_000n, freeCallsUsed: 1 }
      assert.deepEqual(yield* calls.callFunds(consumerId, free.toolId, OPENED_AT), standing)
      const nextMonth = DateTime.makeUnsafe("2026-12-01T00:00:00.000Z")
      assert.equal((yield* calls.callFunds(consumerId, free.toolId, nextMonth)).freeCallsUsed, 0)
      assert.deepEqual(yield* calls.callFunds(yield* aConsumerId, free.toolId, OPENED_AT), {
        availableMicrocents: 0n,
        freeCallsUsed: 0
      })
    })
  ),

  callRule(
    "lists open calls past their deadline, oldest first",
    Effect.gen(function* () {
      const calls = yield* CallStore
      const consumerId = yield* consumerWith(10_000)
      const deadlines = ["2001-01-01T00:00:03.000Z", "2001-01-01T00:00:01.000Z", "2001-01-01T00:00:02.000Z"]
      const late = yield* Effect.forEach(deadlines, (deadline) =>
        aCall(consumerId, { deadlineAt: DateTime.makeUnsafe(deadline), origin: "meter", priceVersion: 7 })
      )
      for (const call of late) yield* opened(call)
      const idsAt = (instant: string, limit: number) =>
        Effect.map(calls.overdue(DateTime.makeUnsafe(instant), limit), (found) =>
          found.map((call) => call.invocationId)
        )
      const [third, first, second] = late.map((call) => call.invocationId)
      assert.deepEqual(yield* idsAt("2001-01-01T00:00:02.000Z", 10), [first, second])
      assert.deepEqual(yield* idsAt("2001-01-02T00:00:00.000Z", 2), [first, second])
      const { holdAmount: _, freeTierCalls: _tier, deadlineAt: _deadline, idempotency: _key, ...shown } = late[1]!
      assert.partialDeepStrictEqual(
        (yield* calls.overdue(DateTime.makeUnsafe("2001-01-02T00:00:00.000Z"), 1))[0]!,
        shown
      )
      for (const call of late.slice(1)) yield* calls.close(yield* closingOf(call, { cost: 0, status: "error" }))
      assert.deepEqual(yield* idsAt("2001-01-02T00:00:00.000Z", 10), [third])
      yield* calls.close(yield* closingOf(late[0]!, { cost: 0, status: "error" }))
      assert.deepEqual(yield* idsAt("2001-01-02T00:00:00.000Z", 10), [])
    })
  )
]

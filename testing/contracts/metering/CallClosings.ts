/**
 * Closing calls: once, at most for the hold.
 */
import assert from "node:assert/strict"
import { Cause, Effect, Exit } from "effect"
import { Ledger } from "../../../domain/ledger/Ledger.ts"
import { FEE_BASIS_POINTS_MAX } from "../../../domain/ledger/PlatformFee.ts"
import { LedgerStore } from "../../../domain/ledger/LedgerStore.ts"
import { transferOfCall } from "../../../domain/ledger/Transfer.ts"
import { CallStore } from "../../../domain/metering/CallStore.ts"
import { MICROCENTS_MAX } from "../../../domain/shared/Microcents.ts"
import type { Contract } from "../shared/Contract.ts"
import { aCall, type Books, callRule, closingOf, opened, settled, tagsOf } from "../shared/CallSamples.ts"
import { aConsumerId, atOnce, consumerWith, money } from "../shared/LedgerSamples.ts"

export const closings: Contract<Books> = [
  callRule(
    "releases the part of the hold that the call did not cost",
    Effect.gen(function* () {
      const ledger = yield* Ledger
      const consumerId = yield* consumerWith(10_000)
      const metered = yield* aCall(consumerId, { holdAmount: money(5_000) })
      yield* settled(metered, { cost: 1_200 })
      assert.equal((yield* ledger.wallet(consumerId)).available, 8_800n)
      const failed = yield* aCall(consumerId)
      yield* settled(failed, { cost: 0, status: "timeout" })
      assert.deepEqual(yield* ledger.wallet(consumerId), {
        credits: 10_000n,
        debits: 1_200n,
        held: 0n,
        available: 8_800n
      })
      assert.deepEqual(yield* (yield* LedgerStore).transfers(transferOfCall(failed.invocationId)), [])
    })
  ),

  callRule(
    "posts a cost of 1 microcent as fee only",
    Effect.gen(function* () {
      const store = yield* LedgerStore
      const consumerId = yield* consumerWith(10_000)
      const small = yield* aCall(consumerId, { holdAmount: money(1) })
      yield* settled(small)
      const transfers = yield* store.transfers(transferOfCall(small.invocationId))
      assert.deepEqual(
        transfers.map(({ leg, credit, amount }) => ({ leg, credit, amount })),
        [{ leg: 2, credit: "platform_fee", amount: money(1) }]
      )
    })
  ),

  ...[
    { feeBasisPoints: 0, net: 777, fee: 0 },
    { feeBasisPoints: 1, net: 776, fee: 1 },
    { feeBasisPoints: 1_000, net: 699, fee: 78 },
    { feeBasisPoints: 2_345, net: 595, fee: 182 },
    { feeBasisPoints: FEE_BASIS_POINTS_MAX, net: 388, fee: 389 }
  ].map(({ fee, feeBasisPoints, net }) =>
    callRule(
      `divides the cost by the fee that is recorded: ${feeBasisPoints} basis points`,
      Effect.gen(function* () {
        const store = yield* LedgerStore
        const consumers = yield* Effect.forEach([10_000, 10_000, 10_000], consumerWith)
        const calls = yield* Effect.forEach(consumers, (consumerId) => aCall(consumerId, { feeBasisPoints }))
        // One alone, the others in a batch.
        yield* settled(calls[0]!, { cost: 777 })
        yield* Effect.forEach(calls.slice(1), (call) => settled(call, { cost: 777 }), { concurrency: "unbounded" })
        for (const { invocationId } of calls) {
          const legs = (yield* store.transfers(transferOfCall(invocationId))).map(({ amount, credit }) => [
            credit,
            amount
          ])
          const platform = fee === 0 ? [] : [["platform_fee", BigInt(fee)]]
          assert.deepEqual(legs, [["provider", BigInt(net)], ...platform])
        }
      })
    )
  ),

  callRule(
    "keeps the fee exact for the highest cost",
    Effect.gen(function* () {
      const consumerId = yield* consumerWith(MICROCENTS_MAX)
      const call = yield* aCall(consumerId, {
        holdAmount: money(MICROCENTS_MAX),
        feeBasisPoints: FEE_BASIS_POINTS_MAX
      })
      yield* settled(call)
      const transfers = yield* (yield* LedgerStore).transfers(transferOfCall(call.invocationId))
      assert.deepEqual(
        transfers.map(({ amount }) => amount as bigint),
        [MICROCENTS_MAX / 2n, MICROCENTS_MAX / 2n + 1n]
      )
    })
  ),

  callRule(
    "closes a call once for 20 receipts at the same time",
    Effect.gen(function* () {
      const calls = yield* CallStore
      const consumerId = yield* consumerWith(10_000)
      const call = yield* aCall(consumerId)
      yield* opened(call)
      const closings = yield* Effect.replicateEffect(closingOf(call), 20)
      const answers = yield* Effect.forEach(closings, calls.close, { concurrency: "unbounded" })
      assert.deepEqual(tagsOf(answers), { Closed: 1, AlreadyClosed: 19 })
      assert.equal((yield* (yield* Ledger).wallet(consumerId)).available, 9_000n)
      assert.equal((yield* (yield* LedgerStore).transfers(transferOfCall(call.invocationId))).length, 2)
    })
  ),

  callRule(
    "answers a repeated closing by the same receipt as closed before, and rejects any other",
    Effect.gen(function* () {
      const calls = yield* CallStore
      const consumerId = yield* consumerWith(10_000)
      const call = yield* aCall(consumerId)
      yield* opened(call)
      const closing = yield* closingOf(call, { cost: 700 })
      const answers = yield* atOnce(20, () => calls.close(closing))
      assert.deepEqual(tagsOf(answers), { Closed: 20 })
      assert.equal(answers.filter((answer) => answer._tag === "Closed" && answer.now).length, 1)
      assert.deepEqual(yield* calls.close(closing), { _tag: "Closed", now: false, availableMicrocents: 9_300n })
      const other = yield* closingOf(call, { cost: 0, status: "error" })
      assert.deepEqual(yield* calls.close(other), { _tag: "AlreadyClosed" })
      assert.equal((yield* (yield* Ledger).wallet(consumerId)).available, 9_300n)
    })
  ),

  callRule(
    "rejects a closing above the hold, of another consumer, fee or call, and closes the others of its batch",
    Effect.gen(function* () {
      const calls = yield* CallStore
      const [consumerId, stranger] = [yield* consumerWith(10_000), yield* consumerWith(10_000)]
      const [expensive, foreign, good, unknown, cheap] = yield* Effect.forEach(Array.from({ length: 5 }), () =>
        aCall(consumerId)
      )
      for (const call of [expensive!, foreign!, good!, cheap!]) yield* opened(call)
      const closings = [
        yield* closingOf(expensive!, { cost: 1_001 }),
        { ...(yield* closingOf(foreign!)), consumerId: stranger },
        yield* closingOf(good!),
        yield* closingOf(unknown!),
        { ...(yield* closingOf(cheap!)), feeBasisPoints: 999 }
      ]
      const exits = yield* Effect.forEach(closings, (closing) => Effect.exit(calls.close(closing)), {
        concurrency: "unbounded"
      })
      assert.deepEqual(
        exits.map((exit) => (Exit.isSuccess(exit) ? exit.value._tag : Cause.hasDies(exit.cause))),
        [true, true, "Closed", true, true]
      )
      const ledger = yield* Ledger
      assert.deepEqual(yield* ledger.wallet(consumerId), {
        credits: 10_000n,
        debits: 1_000n,
        held: 3_000n,
        available: 6_000n
      })
      assert.equal((yield* ledger.wallet(stranger)).available, 10_000n)
      const alone = yield* Effect.exit(calls.close({ ...(yield* closingOf(cheap!)), feeBasisPoints: 1_001 }))
      assert.equal(Exit.isFailure(alone) && Cause.hasDies(alone.cause), true)
      assert.equal((yield* ledger.wallet(consumerId)).held, 3_000n)
      for (const call of [expensive!, foreign!, cheap!]) yield* calls.close(yield* closingOf(call))
      assert.equal((yield* ledger.wallet(consumerId)).held, 0n)
    })
  ),

  ...[
    { claimed: "the right amount", held: 1_000n },
    { claimed: "too much", held: 5_000n },
    { claimed: "nothing", held: 0n }
  ].map(({ claimed, held }) =>
    callRule(
      `releases what was held when the closing claims ${claimed}, among other calls`,
      Effect.gen(function* () {
        const calls = yield* CallStore
        const consumers = yield* Effect.forEach([3_000, 3_000, 1_000, 2_500], consumerWith)
        const open = yield* Effect.forEach(consumers, (consumerId) => Effect.tap(aCall(consumerId), opened))
        const again = yield* closingOf(open[0]!, { cost: 200, held })
        yield* calls.close(again)
        const closings = yield* Effect.forEach(open, (call) => closingOf(call, { cost: 400, held }))
        const openings = yield* Effect.forEach(consumers, (consumerId) =>
          aCall(consumerId, { holdAmount: money(1_600) })
        )
        // A consumer without a wallet.
        const poor = yield* aCall(yield* aConsumerId)
        const [closed, reopened] = yield* Effect.all(
          [
            Effect.forEach([again, ...closings], (closing) => calls.close(closing), { concurrency: "unbounded" }),
            Effect.forEach([...openings, poor], (call) => calls.open(call), { concurrency: "unbounded" })
          ],
          { concurrency: "unbounded" }
        )
        assert.deepEqual(tagsOf(closed), { Closed: 4, AlreadyClosed: 1 })
        assert.deepEqual(
          reopened.map(({ _tag }) => _tag),
          ["Opened", "Opened", "InsufficientFunds", "Opened", "InsufficientFunds"]
        )
        const wallets = yield* Effect.forEach(consumers, (yield* Ledger).wallet)
        assert.deepEqual(
          wallets.map((wallet) => [wallet.available, wallet.held]),
          [
            [1_200n, 1_600n],
            [1_000n, 1_600n],
            [600n, 0n],
            [500n, 1_600n]
          ]
        )
      })
    )
  ),

  callRule(
    "returns whether a call is unknown, open or closed",
    Effect.gen(function* () {
      const calls = yield* CallStore
      const call = yield* aCall(yield* consumerWith(10_000))
      const outcome = calls.outcome(call.consumerId, call.invocationId)
      assert.deepEqual(yield* outcome, { _tag: "Unknown" })
      yield* opened(call)
      assert.deepEqual(yield* outcome, { _tag: "Open" })
      yield* calls.close(yield* closingOf(call, { cost: 700 }))
      assert.deepEqual(yield* outcome, { _tag: "Closed", cost: money(700) })
      assert.deepEqual(yield* calls.outcome(call.consumerId, (yield* aCall(call.consumerId)).invocationId), {
        _tag: "Unknown"
      })
    })
  )
]

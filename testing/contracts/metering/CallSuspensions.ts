/**
 * Calls between two legs: suspended with their hold and key, and resumed once.
 */
import { DateTime, Effect } from "effect"
import assert from "node:assert/strict"
import { Ledger } from "../../../domain/ledger/Ledger.ts"
import { CallStore, type OpenCall } from "../../../domain/metering/CallStore.ts"
import { Entropy } from "../../../domain/shared/Cryptography.ts"
import { aCall, aToolId, type Books, callRule, closingOf, opened, tagsOf } from "../shared/CallSamples.ts"
import type { Contract } from "../shared/Contract.ts"
import { aProviderId, atOnce, consumerWith, money } from "../shared/LedgerSamples.ts"

const later = (call: OpenCall) => DateTime.add(call.openedAt, { minutes: 10 })

const suspending = (call: OpenCall, leg: number, max = 10) => ({
  consumerId: call.consumerId,
  invocationId: call.invocationId,
  leg,
  deadlineAt: later(call),
  max
})

const resuming = (call: OpenCall, leg: number) => ({
  consumerId: call.consumerId,
  invocationId: call.invocationId,
  leg,
  deadlineAt: later(call)
})

export const suspensionsOfCalls: Contract<Books> = [
  callRule(
    "keeps hold, free call and key of a suspended call, and settles it after it is resumed",
    Effect.gen(function* () {
      const calls = yield* CallStore
      const ledger = yield* Ledger
      const { hex } = yield* Entropy
      const consumerId = yield* consumerWith(10_000)
      const idempotency = { keyHash: yield* hex(32), requestHash: yield* hex(32) }
      const terms = { idempotency, toolId: yield* aToolId, freeTierCalls: 1 }
      const [free, paid] = [yield* aCall(consumerId, terms), yield* aCall(consumerId, { toolId: terms.toolId })]
      for (const call of [free, paid]) {
        yield* opened(call)
        assert.equal(yield* calls.suspend(suspending(call, 1)), "suspended")
      }
      assert.deepEqual(yield* ledger.wallet(consumerId), {
        credits: 10_000n,
        debits: 0n,
        held: 1_000n,
        available: 9_000n
      })
      assert.deepEqual(yield* calls.open(yield* aCall(consumerId, terms)), {
        _tag: "InFlight",
        invocationId: free.invocationId
      })
      assert.deepEqual(yield* calls.resume(resuming(free, 1)), {
        _tag: "Opened",
        held: money(0),
        free: true,
        freeCallsLeft: 0,
        availableMicrocents: 9_000n
      })
      assert.deepEqual(yield* calls.resume(resuming(paid, 1)), {
        _tag: "Opened",
        held: money(1_000),
        free: false,
        freeCallsLeft: undefined,
        availableMicrocents: 9_000n
      })
      const answer = { status: 200, headers: {}, body: "{}" }
      yield* calls.close(yield* closingOf(free, { cost: 0, free: true, answer }))
      yield* calls.close(yield* closingOf(paid, { cost: 700 }))
      assert.equal((yield* ledger.wallet(consumerId)).available, 9_300n)
      assert.deepEqual(yield* calls.open(yield* aCall(consumerId, terms)), { _tag: "Replay", answer })
    })
  ),

  callRule(
    "resumes each leg once for 20 requests at the same time, and only after the leg that is named",
    Effect.gen(function* () {
      const calls = yield* CallStore
      const call = yield* aCall(yield* consumerWith(10_000))
      yield* opened(call)
      assert.equal(yield* calls.resume(resuming(call, 1)), undefined, "it runs")
      for (const leg of [1, 2, 3]) {
        assert.equal(yield* calls.suspend(suspending(call, leg)), "suspended")
        assert.equal(yield* calls.resume(resuming(call, leg - 1)), undefined)
        assert.equal(yield* calls.resume(resuming(call, leg + 1)), undefined)
        const resumed = yield* atOnce(20, () => calls.resume(resuming(call, leg)))
        assert.equal(resumed.filter((one) => one !== undefined).length, 1)
      }
    })
  ),

  callRule(
    "neither suspends nor resumes another consumer's call, or one that is closed",
    Effect.gen(function* () {
      const calls = yield* CallStore
      const stranger = yield* consumerWith(10_000)
      const call = yield* aCall(yield* consumerWith(10_000))
      yield* opened(call)
      assert.equal(yield* calls.suspend({ ...suspending(call, 1), consumerId: stranger }), "gone")
      assert.equal(yield* calls.suspend(suspending(call, 1)), "suspended")
      assert.equal(yield* calls.resume({ ...resuming(call, 1), consumerId: stranger }), undefined)
      assert.equal(yield* calls.suspend(suspending(call, 1)), "suspended", "not confirmed before")
      assert.equal(yield* calls.suspend(suspending(call, 2)), "gone", "it was not resumed")
      yield* calls.close(yield* closingOf(call, { cost: 0, status: "error" }))
      assert.equal(yield* calls.suspend(suspending(call, 1)), "gone")
      assert.equal(yield* calls.resume(resuming(call, 1)), undefined)
      assert.equal(yield* calls.extend(call.consumerId, call.invocationId, later(call)), false)
    })
  ),

  callRule(
    "limits the suspended calls of a consumer, of 20 at the same time too",
    Effect.gen(function* () {
      const calls = yield* CallStore
      const consumerId = yield* consumerWith(100_000)
      const other = yield* aCall(yield* consumerWith(10_000))
      const crowd = yield* Effect.forEach(Array.from({ length: 20 }), () => Effect.tap(aCall(consumerId), opened))
      yield* opened(other)
      assert.equal(yield* calls.suspend(suspending(other, 1, 1)), "suspended")
      const suspended = yield* Effect.forEach(crowd, (call) => calls.suspend(suspending(call, 1, 3)), {
        concurrency: "unbounded"
      })
      assert.deepEqual(tagsOf(suspended.map((_tag) => ({ _tag }))), { suspended: 3, too_many: 17 })
      yield* calls.resume(resuming(crowd[suspended.indexOf("suspended")]!, 1))
      assert.equal(yield* calls.suspend(suspending(crowd[suspended.indexOf("too_many")]!, 1, 3)), "suspended")
    })
  ),

  callRule(
    "limits the suspended calls of a consumer at one provider, of 20 at the same time too",
    Effect.gen(function* () {
      const calls = yield* CallStore
      const consumerId = yield* consumerWith(100_000)
      const [providerId, otherId] = [yield* aProviderId, yield* aProviderId]
      const open = (changes: Partial<OpenCall>) => Effect.tap(aCall(consumerId, changes), opened)
      const crowd = yield* Effect.forEach(Array.from({ length: 20 }), () => open({ providerId }))
      const suspended = yield* Effect.forEach(crowd, (call) => calls.suspend(suspending(call, 1, 5)), {
        concurrency: "unbounded"
      })
      assert.deepEqual(tagsOf(suspended.map((_tag) => ({ _tag }))), { suspended: 3, too_many: 17 })
      const others = yield* Effect.forEach(Array.from({ length: 3 }), () => open({ providerId: otherId }))
      assert.deepEqual(yield* Effect.forEach(others, (call) => calls.suspend(suspending(call, 1, 5))), [
        "suspended",
        "suspended",
        "too_many"
      ])
      assert.equal(yield* calls.suspend(suspending(crowd[suspended.indexOf("suspended")]!, 1, 5)), "suspended")
    })
  ),

  callRule(
    "says whether a consumer's call at a provider may wait, as the limits of suspended calls do",
    Effect.gen(function* () {
      const calls = yield* CallStore
      const consumerId = yield* consumerWith(100_000)
      const [providerId, otherId, thirdId] = [yield* aProviderId, yield* aProviderId, yield* aProviderId]
      const mayWait = () => Effect.forEach([providerId, otherId, thirdId], (id) => calls.mayWait(consumerId, id, 4))
      const suspended = Effect.fnUntraced(function* (at: typeof providerId) {
        const call = yield* Effect.tap(aCall(consumerId, { providerId: at }), opened)
        assert.equal(yield* calls.suspend(suspending(call, 1, 4)), "suspended")
        return call
      })
      yield* suspended(providerId)
      yield* Effect.tap(aCall(consumerId, { providerId }), opened)
      assert.deepEqual(yield* mayWait(), [true, true, true])
      const second = yield* suspended(providerId)
      assert.deepEqual(yield* mayWait(), [false, true, true])
      yield* suspended(otherId)
      yield* suspended(otherId)
      assert.deepEqual(yield* mayWait(), [false, false, false])
      assert.equal(yield* calls.mayWait(yield* consumerWith(1), providerId, 4), true)
      yield* calls.resume(resuming(second, 1))
      assert.deepEqual(yield* mayWait(), [true, false, true])
    })
  ),

  callRule(
    "lists a suspended call as overdue after its new deadline, and a resumed or extended one after that",
    Effect.gen(function* () {
      const calls = yield* CallStore
      const openedAt = DateTime.makeUnsafe("1999-06-01T00:00:00.000Z")
      const call = yield* aCall(yield* consumerWith(10_000), { openedAt })
      const overdueAfter = (minutes: number) =>
        Effect.map(calls.overdue(DateTime.add(openedAt, { minutes }), 1_000), (overdue) =>
          overdue.some((one) => one.invocationId === call.invocationId)
        )
      yield* opened(call)
      assert.equal(yield* overdueAfter(5), true)
      yield* calls.suspend(suspending(call, 1))
      assert.deepEqual([yield* overdueAfter(5), yield* overdueAfter(10)], [false, true])
      yield* calls.resume({ ...resuming(call, 1), deadlineAt: DateTime.add(openedAt, { minutes: 11 }) })
      assert.deepEqual([yield* overdueAfter(10), yield* overdueAfter(11)], [false, true])
      assert.equal(
        yield* calls.extend(call.consumerId, call.invocationId, DateTime.add(openedAt, { minutes: 20 })),
        true
      )
      yield* calls.extend(call.consumerId, call.invocationId, DateTime.add(openedAt, { minutes: 1 }))
      assert.deepEqual([yield* overdueAfter(19), yield* overdueAfter(20)], [false, true])
      yield* calls.close(yield* closingOf(call, { cost: 0, status: "error" }))
    })
  ),

  callRule(
    "closes a call once that is resumed and ended by the sweeper at the same time",
    Effect.gen(function* () {
      const calls = yield* CallStore
      const consumerId = yield* consumerWith(100_000)
      const crowd = yield* Effect.forEach(Array.from({ length: 20 }), () => Effect.tap(aCall(consumerId), opened))
      yield* Effect.forEach(crowd, (call) => calls.suspend(suspending(call, 1, 20)))
      const ended = yield* Effect.forEach(
        crowd,
        (call) =>
          Effect.gen(function* () {
            const voided = yield* closingOf(call, { cost: 0, status: "error" })
            const settled = yield* closingOf(call, { cost: 500 })
            const [one, other] = yield* Effect.all(
              [
                calls.close(voided),
                Effect.flatMap(calls.resume(resuming(call, 1)), (resumed) =>
                  resumed === undefined ? Effect.undefined : calls.close(settled)
                )
              ],
              { concurrency: "unbounded" }
            )
            assert.equal([one, other].filter((closed) => closed?._tag === "Closed").length, 1)
            return other?._tag === "Closed" ? 500 : 0
          }),
        { concurrency: "unbounded" }
      )
      const spent = BigInt(ended.filter((cost) => cost > 0).length) * 500n
      assert.deepEqual(yield* (yield* Ledger).wallet(consumerId), {
        credits: 100_000n,
        debits: spent,
        held: 0n,
        available: 100_000n - spent
      })
    })
  )
]

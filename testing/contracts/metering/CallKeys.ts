/**
 * Idempotency keys of calls: one call per key, and its stored response for a repeated request.
 */
import { DateTime, Effect } from "effect"
import assert from "node:assert/strict"
import { Ledger } from "../../../domain/ledger/Ledger.ts"
import { CallStore, type KeptResult, retainedResult } from "../../../domain/metering/CallStore.ts"
import { Entropy } from "../../../domain/shared/Cryptography.ts"
import { aCall, type Books, callRule, closingOf, opened, settled, tagsOf } from "../shared/CallSamples.ts"
import type { Contract } from "../shared/Contract.ts"
import { atOnce, consumerWith, money } from "../shared/LedgerSamples.ts"

const aKey = Effect.gen(function* () {
  const { hex } = yield* Entropy
  return { keyHash: yield* hex(32), requestHash: yield* hex(32) }
})

/** Six of them exceed what PostgreSQL's client accepts in one message. */
const LONG_ANSWER_CHARS = 4_500_000

/** Any character that a body may contain. */
const answer: KeptResult = {
  status: 200,
  headers: { "content-type": "application/json", "x-market-tool": 'schön "quoted"' },
  body: `{"result":"天気 🌦 \u0000 \\u0000 \n\t é"}`
}

export const keysOfCalls: Contract<Books> = [
  callRule(
    "replays the stored response byte for byte, without a new hold",
    Effect.gen(function* () {
      const calls = yield* CallStore
      const consumerId = yield* consumerWith(10_000)
      const idempotency = yield* aKey
      yield* settled(yield* aCall(consumerId, { idempotency }), { answer })
      const again = yield* aCall(consumerId, { idempotency })
      assert.deepEqual(yield* calls.open(again), { _tag: "Replay", answer })
      assert.deepEqual(yield* (yield* Ledger).wallet(consumerId), {
        credits: 10_000n,
        debits: 1_000n,
        held: 0n,
        available: 9_000n
      })
    })
  ),

  callRule(
    "replays long responses concurrently, beside other calls",
    Effect.gen(function* () {
      const calls = yield* CallStore
      const consumerId = yield* consumerWith(10_000)
      const bystander = yield* consumerWith(10_000)
      const idempotency = yield* aKey
      const long = { ...answer, body: "x".repeat(LONG_ANSWER_CHARS) }
      yield* settled(yield* aCall(consumerId, { idempotency }), { answer: long })
      const open = yield* aCall(bystander)
      yield* opened(open)
      const closing = yield* closingOf(open)
      const [replays, next, closed] = yield* Effect.all(
        [
          atOnce(6, () => Effect.flatMap(aCall(consumerId, { idempotency }), calls.open)),
          Effect.flatMap(aCall(bystander), calls.open),
          calls.close(closing)
        ],
        { concurrency: "unbounded" }
      )
      for (const replay of replays) assert.deepEqual(replay, { _tag: "Replay", answer: long })
      assert.deepEqual([next._tag, closed._tag], ["Opened", "Closed"])
    })
  ),

  callRule(
    "rejects another request under the same key, while its call is open and afterwards",
    Effect.gen(function* () {
      const calls = yield* CallStore
      const consumerId = yield* consumerWith(10_000)
      const idempotency = yield* aKey
      const call = yield* aCall(consumerId, { idempotency })
      const { requestHash } = yield* aKey
      const other = yield* aCall(consumerId, { idempotency: { ...idempotency, requestHash } })
      yield* opened(call)
      assert.deepEqual(yield* calls.open(other), { _tag: "IdempotencyConflict" })
      yield* calls.close(yield* closingOf(call, { answer }))
      assert.deepEqual(yield* calls.open(other), { _tag: "IdempotencyConflict" })
      yield* opened(yield* aCall(yield* consumerWith(10_000), { idempotency: other.idempotency }))
    })
  ),

  callRule(
    "opens one of 32 concurrent calls with the same key, and returns its ID to the others",
    Effect.gen(function* () {
      const calls = yield* CallStore
      const consumerId = yield* consumerWith(1_000_000)
      const idempotency = yield* aKey
      const crowd = yield* Effect.forEach(Array.from({ length: 32 }), () => aCall(consumerId, { idempotency }))
      const answers = yield* Effect.forEach(crowd, calls.open, { concurrency: "unbounded" })
      assert.deepEqual(tagsOf(answers), { Opened: 1, InFlight: 31 })
      const { invocationId } = crowd[answers.findIndex((one) => one._tag === "Opened")]!
      for (const one of answers) if (one._tag === "InFlight") assert.equal(one.invocationId, invocationId)
      assert.equal((yield* (yield* Ledger).wallet(consumerId)).held, 1_000n)
    })
  ),

  callRule(
    "does not bind the key when the call is rejected",
    Effect.gen(function* () {
      const calls = yield* CallStore
      const ledger = yield* Ledger
      const consumerId = yield* consumerWith(10)
      const idempotency = yield* aKey
      const call = yield* aCall(consumerId, { idempotency })
      assert.equal((yield* calls.open(call))._tag, "InsufficientFunds")
      yield* ledger.load({ consumerId, amount: money(5_000), reference: `more for ${consumerId}` })
      yield* opened(call)
    })
  ),

  callRule(
    "releases the key after a call without a stored response, unless the call cost something",
    Effect.gen(function* () {
      const calls = yield* CallStore
      const consumerId = yield* consumerWith(10_000)
      const idempotency = yield* aKey
      yield* settled(yield* aCall(consumerId, { idempotency }), { cost: 0, status: "error" })
      const billed = yield* aCall(consumerId, { idempotency })
      yield* settled(billed)
      assert.deepEqual(yield* calls.open(yield* aCall(consumerId, { idempotency })), {
        _tag: "InFlight",
        invocationId: billed.invocationId
      })
    })
  ),

  callRule(
    "removes the bodies of old responses whose callers disconnected, and keeps their keys bound",
    Effect.gen(function* () {
      const calls = yield* CallStore
      const consumerId = yield* consumerWith(100_000)
      const openedAt = DateTime.makeUnsafe("2003-01-01T00:00:00.000Z")
      const keys = yield* Effect.forEach(Array.from({ length: 4 }), () => aKey)
      const answers = yield* Effect.forEach(keys, (idempotency, n) =>
        Effect.gen(function* () {
          const call = yield* aCall(consumerId, { idempotency, openedAt })
          const { receipt } = yield* closingOf(call)
          const stored = n === 0 ? answer : retainedResult(answer, receipt, n === 3 ? 0 : 1)
          yield* settled(call, { answer: stored })
          return stored
        })
      )
      assert.equal(yield* calls.pruneRetained(openedAt, 10), 0, "none is older")
      const before = DateTime.add(openedAt, { minutes: 10 })
      assert.equal(yield* calls.pruneRetained(before, 1), 1)
      assert.equal(yield* calls.pruneRetained(before, 10), 1)
      assert.equal(yield* calls.pruneRetained(before, 10), 0)
      const replays = yield* Effect.forEach(keys, (idempotency) =>
        Effect.flatMap(aCall(consumerId, { idempotency }), calls.open)
      )
      assert.deepEqual(
        replays,
        answers.map((one, n) => ({ _tag: "Replay" as const, answer: n === 0 ? one : { ...one, body: "" } }))
      )
    })
  ),

  callRule(
    "deletes stored responses from before a time, up to a limit",
    Effect.gen(function* () {
      const calls = yield* CallStore
      const consumerId = yield* consumerWith(100_000)
      const keys = yield* Effect.forEach(Array.from({ length: 4 }), () => aKey)
      const dates = ["2001-01-01T00:00:00.000Z", "2001-01-02T00:00:00.000Z", "2001-01-03T00:00:00.000Z"]
      const callWith = (n: number) =>
        aCall(consumerId, {
          idempotency: keys[n],
          openedAt: DateTime.makeUnsafe(dates[n] ?? "2002-01-01T00:00:00.000Z")
        })
      for (let n = 0; n < 3; n++) yield* settled(yield* callWith(n), { answer })
      yield* opened(yield* callWith(3))
      const before = DateTime.makeUnsafe("2001-01-03T00:00:00.000Z")
      assert.equal(yield* calls.forget(before, 1), 1)
      assert.equal(yield* calls.forget(before, 10), 1)
      assert.equal(yield* calls.forget(before, 10), 0)
      assert.deepEqual(
        yield* Effect.forEach([0, 1, 2, 3], (n) =>
          Effect.map(Effect.flatMap(callWith(n), calls.open), (one) => one._tag)
        ),
        ["Opened", "Opened", "Replay", "InFlight"]
      )
    })
  )
]

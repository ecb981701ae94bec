import { assert, it } from "@effect/vitest"
import { DateTime, Effect, type Layer } from "effect"
import { Ledger } from "../../domain/ledger/Ledger.ts"
import { CallStore, type KeptResult } from "../../domain/metering/CallStore.ts"
import { leftAnswer } from "../../domain/metering/LeftAnswers.ts"
import { Entropy } from "../../domain/shared/Entropy.ts"
import type { LedgerPorts } from "./ledgerPorts.ts"
import {
  aCall,
  aConsumerId,
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

const aKey = Effect.gen(function* () {
  const { hex } = yield* Entropy
  return { keyHash: yield* hex(32), requestHash: yield* hex(32) }
})

/** Six of them are more than PostgreSQL's client takes in one message. */
const LONG_ANSWER_CHARS = 4_500_000

/** Everything that a body may hold. */
const answer: KeptResult = {
  status: 200,
  headers: { "content-type": "application/json", "x-market-tool": 'schön "quoted"' },
  body: `{"result":"天気 🌦 \u0000 \\u0000 \n\t é"}`
}

export const freeTierContract = (name: string, ports: Layer.Layer<LedgerPorts>) =>
  it.layer(ports, { timeout: "60 seconds", excludeTestServices: true })(`Free tiers over ${name}`, (it) => {
    it.effect("lets the first calls of a tool and month be free, and counts down", () =>
      Effect.gen(function* () {
        const consumerId = yield* consumerWith(10_000)
        const terms = { toolId: yield* aToolId, freeTierCalls: 2 }
        const answers = []
        for (let n = 0; n < 3; n++) {
          const call = yield* aCall(consumerId, terms)
          const { free, held, freeCallsLeft } = yield* opened(call)
          answers.push([free, held, freeCallsLeft])
          yield* (yield* CallStore).close(yield* closingOf(call, { cost: held }))
        }
        assert.deepStrictEqual(answers, [
          [true, money(0), 1],
          [true, money(0), 0],
          [false, money(1_000), 0]
        ])
        assert.strictEqual((yield* (yield* Ledger).wallet(consumerId)).debits, 1_000n)
        const nextMonth = { ...terms, openedAt: DateTime.makeUnsafe("2026-12-01T00:00:00.000Z") }
        assert.isTrue((yield* opened(yield* aCall(consumerId, nextMonth))).free)
        assert.isTrue((yield* opened(yield* aCall(yield* aConsumerId, terms))).free)
        assert.isTrue((yield* opened(yield* aCall(consumerId, { freeTierCalls: 1 }))).free)
      })
    )

    it.effect("makes exactly that many calls of a crowd free, and bills the others", () =>
      Effect.gen(function* () {
        const calls = yield* CallStore
        const [poor, rich] = [yield* aConsumerId, yield* consumerWith(1_000_000)]
        const terms = { toolId: yield* aToolId, freeTierCalls: 7 }
        const ofPoor = yield* atOnce(64, () => Effect.flatMap(aCall(poor, terms), calls.open))
        assert.deepStrictEqual(tagsOf(ofPoor), { Opened: 7, InsufficientFunds: 57 })
        const ofRich = yield* atOnce(64, () => Effect.flatMap(aCall(rich, terms), calls.open))
        assert.deepStrictEqual(tagsOf(ofRich), { Opened: 64 })
        assert.lengthOf(
          ofRich.filter((opened) => opened._tag === "Opened" && opened.free),
          7
        )
        assert.strictEqual((yield* (yield* Ledger).wallet(rich)).held, 57_000n)
      })
    )

    it.effect("tells which tools were called free of charge this month, the most used first", () =>
      Effect.gen(function* () {
        const calls = yield* CallStore
        const [consumerId, other] = [yield* aConsumerId, yield* aConsumerId]
        const [often, once, failed] = [yield* aToolId, yield* aToolId, yield* aToolId]
        const call = Effect.fnUntraced(function* (
          who: typeof consumerId,
          toolId: typeof often,
          status: "success" | "error"
        ) {
          yield* settled(yield* aCall(who, { toolId, freeTierCalls: 10 }), { cost: 0, status })
        })
        yield* call(consumerId, once, "success")
        for (let n = 0; n < 3; n++) yield* call(consumerId, often, "success")
        yield* call(consumerId, failed, "error")
        yield* call(other, once, "success")
        assert.deepStrictEqual(yield* calls.freeCallsByTool(consumerId, OPENED_AT, 10), [
          { toolId: often, used: 3 },
          { toolId: once, used: 1 }
        ])
        assert.deepStrictEqual(yield* calls.freeCallsByTool(consumerId, OPENED_AT, 1), [{ toolId: often, used: 3 }])
        const next = DateTime.add(OPENED_AT, { months: 1 })
        assert.deepStrictEqual(yield* calls.freeCallsByTool(consumerId, next, 10), [])
      })
    )

    it.effect("gives a free call back when it failed, unless the closing says that it counts", () =>
      Effect.gen(function* () {
        const calls = yield* CallStore
        const consumerId = yield* aConsumerId
        const terms = { toolId: yield* aToolId, freeTierCalls: 10 }
        const usedAfter = Effect.fnUntraced(function* (ending: Parameters<typeof closingOf>[1]) {
          yield* settled(yield* aCall(consumerId, terms), { cost: 0, ...ending })
          return (yield* calls.standing(consumerId, terms.toolId, OPENED_AT)).freeCallsUsed
        })
        assert.strictEqual(yield* usedAfter({ status: "success" }), 1)
        assert.strictEqual(yield* usedAfter({ status: "error" }), 1)
        assert.strictEqual(yield* usedAfter({ status: "timeout" }), 1)
        assert.strictEqual(yield* usedAfter({ status: "error", usesFreeCall: true }), 2)
        assert.strictEqual(yield* usedAfter({ status: "success", usesFreeCall: false }), 2)
        yield* atOnce(5, () => usedAfter({ status: "rate_limited" }))
        assert.strictEqual(yield* usedAfter({ status: "success" }), 3)
      })
    )
  })

export const idempotencyOfCallsContract = (name: string, ports: Layer.Layer<LedgerPorts>) =>
  it.layer(ports, { timeout: "60 seconds", excludeTestServices: true })(`Keys of calls over ${name}`, (it) => {
    it.effect("replays the stored answer, word for word, and holds nothing again", () =>
      Effect.gen(function* () {
        const calls = yield* CallStore
        const consumerId = yield* consumerWith(10_000)
        const idempotency = yield* aKey
        yield* settled(yield* aCall(consumerId, { idempotency }), { answer })
        const again = yield* aCall(consumerId, { idempotency })
        assert.deepStrictEqual(yield* calls.open(again), { _tag: "Replay", answer })
        assert.deepStrictEqual(yield* (yield* Ledger).wallet(consumerId), {
          credits: 10_000n,
          debits: 1_000n,
          held: 0n,
          available: 9_000n
        })
      })
    )

    it.effect("replays long answers to many at once, and keeps nobody else waiting for them", () =>
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
        for (const replay of replays) assert.deepStrictEqual(replay, { _tag: "Replay", answer: long })
        assert.deepStrictEqual([next._tag, closed._tag], ["Opened", "Closed"])
      })
    )

    it.effect("refuses a key that stands for another request, while its call is open and after", () =>
      Effect.gen(function* () {
        const calls = yield* CallStore
        const consumerId = yield* consumerWith(10_000)
        const idempotency = yield* aKey
        const call = yield* aCall(consumerId, { idempotency })
        const { requestHash } = yield* aKey
        const other = yield* aCall(consumerId, { idempotency: { ...idempotency, requestHash } })
        yield* opened(call)
        assert.deepStrictEqual(yield* calls.open(other), { _tag: "IdempotencyConflict" })
        yield* calls.close(yield* closingOf(call, { answer }))
        assert.deepStrictEqual(yield* calls.open(other), { _tag: "IdempotencyConflict" })
        yield* opened(yield* aCall(yield* consumerWith(10_000), { idempotency: other.idempotency }))
      })
    )

    it.effect("opens one of a crowd with the same key, and names it to the others", () =>
      Effect.gen(function* () {
        const calls = yield* CallStore
        const consumerId = yield* consumerWith(1_000_000)
        const idempotency = yield* aKey
        const crowd = yield* Effect.forEach(Array.from({ length: 32 }), () => aCall(consumerId, { idempotency }))
        const answers = yield* Effect.forEach(crowd, calls.open, { concurrency: "unbounded" })
        assert.deepStrictEqual(tagsOf(answers), { Opened: 1, InFlight: 31 })
        const { invocationId } = crowd[answers.findIndex((one) => one._tag === "Opened")]!
        for (const one of answers) if (one._tag === "InFlight") assert.strictEqual(one.invocationId, invocationId)
        assert.strictEqual((yield* (yield* Ledger).wallet(consumerId)).held, 1_000n)
      })
    )

    it.effect("leaves the key free when nothing was opened", () =>
      Effect.gen(function* () {
        const calls = yield* CallStore
        const ledger = yield* Ledger
        const consumerId = yield* consumerWith(10)
        const idempotency = yield* aKey
        const call = yield* aCall(consumerId, { idempotency })
        assert.strictEqual((yield* calls.open(call))._tag, "InsufficientFunds")
        yield* ledger.load({ consumerId, amount: money(5_000), reference: `more for ${consumerId}` })
        yield* opened(call)
      })
    )

    it.effect("sets the key free after a call without an answer that cost nothing, never after one that did", () =>
      Effect.gen(function* () {
        const calls = yield* CallStore
        const consumerId = yield* consumerWith(10_000)
        const idempotency = yield* aKey
        yield* settled(yield* aCall(consumerId, { idempotency }), { cost: 0, status: "error" })
        const billed = yield* aCall(consumerId, { idempotency })
        yield* settled(billed)
        assert.deepStrictEqual(yield* calls.open(yield* aCall(consumerId, { idempotency })), {
          _tag: "InFlight",
          invocationId: billed.invocationId
        })
      })
    )

    it.effect("removes the bodies of old answers whose callers had left, and keeps their keys bound", () =>
      Effect.gen(function* () {
        const calls = yield* CallStore
        const consumerId = yield* consumerWith(100_000)
        const openedAt = DateTime.makeUnsafe("2003-01-01T00:00:00.000Z")
        const keys = yield* Effect.forEach(Array.from({ length: 4 }), () => aKey)
        const answers = yield* Effect.forEach(keys, (idempotency, n) =>
          Effect.gen(function* () {
            const call = yield* aCall(consumerId, { idempotency, openedAt })
            const { receipt } = yield* closingOf(call)
            const stored = n === 0 ? answer : leftAnswer(answer, receipt, n === 3 ? 0 : 1)
            yield* settled(call, { answer: stored })
            return stored
          })
        )
        assert.strictEqual(yield* calls.forgetLeft(openedAt, 10), 0, "they are not older")
        const before = DateTime.add(openedAt, { minutes: 10 })
        assert.strictEqual(yield* calls.forgetLeft(before, 1), 1)
        assert.strictEqual(yield* calls.forgetLeft(before, 10), 1)
        assert.strictEqual(yield* calls.forgetLeft(before, 10), 0)
        const replays = yield* Effect.forEach(keys, (idempotency) =>
          Effect.flatMap(aCall(consumerId, { idempotency }), calls.open)
        )
        assert.deepStrictEqual(
          replays,
          answers.map((one, n) => ({ _tag: "Replay" as const, answer: n === 0 ? one : { ...one, body: "" } }))
        )
      })
    )

    it.effect("forgets answers from before a time, so many at once", () =>
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
        assert.strictEqual(yield* calls.forget(before, 1), 1)
        assert.strictEqual(yield* calls.forget(before, 10), 1)
        assert.strictEqual(yield* calls.forget(before, 10), 0)
        assert.deepStrictEqual(
          yield* Effect.forEach([0, 1, 2, 3], (n) =>
            Effect.map(Effect.flatMap(callWith(n), calls.open), (one) => one._tag)
          ),
          ["Opened", "Opened", "Replay", "InFlight"]
        )
      })
    )
  })

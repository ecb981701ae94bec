/**
 * Free tiers: a number of free calls per consumer, tool and month.
 */
import assert from "node:assert/strict"
import { DateTime, Effect } from "effect"
import { Ledger } from "../../../domain/ledger/Ledger.ts"
import { CallStore } from "../../../domain/metering/CallStore.ts"
import type { Contract } from "../shared/Contract.ts"
import { type Books, callRule, aCall, aToolId, closingOf, opened, settled, tagsOf } from "../shared/CallSamples.ts"
import { aConsumerId, atOnce, consumerWith, money, OPENED_AT } from "../shared/LedgerSamples.ts"

export const freeTiersOfCalls: Contract<Books> = [
  callRule(
    "makes the first calls of a tool in a month free, and counts down",
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
      assert.deepEqual(answers, [
        [true, money(0), 1],
        [true, money(0), 0],
        [false, money(1_000), 0]
      ])
      assert.equal((yield* (yield* Ledger).wallet(consumerId)).debits, 1_000n)
      const nextMonth = { ...terms, openedAt: DateTime.makeUnsafe("2026-12-01T00:00:00.000Z") }
      assert.equal((yield* opened(yield* aCall(consumerId, nextMonth))).free, true)
      assert.equal((yield* opened(yield* aCall(yield* aConsumerId, terms))).free, true)
      assert.equal((yield* opened(yield* aCall(consumerId, { freeTierCalls: 1 }))).free, true)
    })
  ),

  callRule(
    "makes exactly as many concurrent calls free as the tier has, and bills the others",
    Effect.gen(function* () {
      const calls = yield* CallStore
      const [poor, rich] = [yield* aConsumerId, yield* consumerWith(1_000_000)]
      const terms = { toolId: yield* aToolId, freeTierCalls: 7 }
      const ofPoor = yield* atOnce(64, () => Effect.flatMap(aCall(poor, terms), calls.open))
      assert.deepEqual(tagsOf(ofPoor), { Opened: 7, InsufficientFunds: 57 })
      const ofRich = yield* atOnce(64, () => Effect.flatMap(aCall(rich, terms), calls.open))
      assert.deepEqual(tagsOf(ofRich), { Opened: 64 })
      assert.equal(ofRich.filter((opened) => opened._tag === "Opened" && opened.free).length, 7)
      assert.equal((yield* (yield* Ledger).wallet(rich)).held, 57_000n)
    })
  ),

  callRule(
    "lists the free calls of a month by tool, most used first",
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
      assert.deepEqual(yield* calls.freeCallsByTool(consumerId, OPENED_AT, 10), [
        { toolId: often, used: 3 },
        { toolId: once, used: 1 }
      ])
      assert.deepEqual(yield* calls.freeCallsByTool(consumerId, OPENED_AT, 1), [{ toolId: often, used: 3 }])
      const next = DateTime.add(OPENED_AT, { months: 1 })
      assert.deepEqual(yield* calls.freeCallsByTool(consumerId, next, 10), [])
    })
  ),

  callRule(
    "returns the free call of a failed call, unless the closing says that it counts",
    Effect.gen(function* () {
      const calls = yield* CallStore
      const consumerId = yield* aConsumerId
      const terms = { toolId: yield* aToolId, freeTierCalls: 10 }
      const usedAfter = Effect.fnUntraced(function* (ending: Parameters<typeof closingOf>[1]) {
        yield* settled(yield* aCall(consumerId, terms), { cost: 0, ...ending })
        return (yield* calls.callFunds(consumerId, terms.toolId, OPENED_AT)).freeCallsUsed
      })
      assert.equal(yield* usedAfter({ status: "success" }), 1)
      assert.equal(yield* usedAfter({ status: "error" }), 1)
      assert.equal(yield* usedAfter({ status: "timeout" }), 1)
      assert.equal(yield* usedAfter({ status: "error", usesFreeCall: true }), 2)
      assert.equal(yield* usedAfter({ status: "success", usesFreeCall: false }), 2)
      yield* atOnce(5, () => usedAfter({ status: "rate_limited" }))
      assert.equal(yield* usedAfter({ status: "success" }), 3)
    })
  )
]

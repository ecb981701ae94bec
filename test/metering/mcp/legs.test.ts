/**
 * A tool that asks for input: one call with one hold, one receipt and one settlement, in several legs. What each ending
 * costs.
 */
import { assert, it } from "@effect/vitest"
import { DateTime, Effect, Option } from "effect"
import { PROVIDER_STATE_CHARS_MAX } from "../../../domain/mcp/Legs.ts"
import { CallStore, LEGS_MAX } from "../../../domain/metering/CallStore.ts"
import { Metering } from "../../../domain/metering/Metering.ts"
import { Sweeper } from "../../../domain/metering/Sweeper.ts"
import { ReceiptStore } from "../../../domain/receipts/Receipts.ts"
import { Microcents } from "../../../domain/shared/Microcents.ts"
import { exchangeOf } from "../../support/metering/McpExchanges.ts"
import {
  asked,
  askerOf,
  asking,
  callMcp,
  checkWallet,
  completed,
  MCP_PRICE,
  memoryMcpMarket,
  Provider,
  receiptsOf,
  rejectedFor,
  requestOf,
  settledBy,
  withState
} from "../../support/metering/McpMarket.ts"
import { later } from "../../support/metering/TestTime.ts"

const PRICE = BigInt(MCP_PRICE)

const sweep = Effect.flatMap(Sweeper, (sweeper) => sweeper.sweep)

const provider = new Provider()

it.layer(memoryMcpMarket(provider), { timeout: "120 seconds", excludeTestServices: true })("A tool that asks", (it) => {
  const anAsker = askerOf(provider)

  it.effect("is one call: one hold, one receipt, and its provider's own state comes back to it", () =>
    Effect.gen(function* () {
      const { consumerId, toolId } = yield* anAsker(2)
      const first = yield* asked(requestOf(consumerId, toolId))
      assert.include(first.resultText, `"n":12345678901234567890`)
      assert.notInclude(first.resultText, "state 1", "the provider's state is encrypted")
      yield* checkWallet(consumerId, 0n, PRICE)
      const second = yield* asked(requestOf(consumerId, toolId, withState(first.state)))
      assert.strictEqual(second.receiptId, first.receiptId)
      yield* checkWallet(consumerId, 0n, PRICE)
      const { report } = yield* settledBy(requestOf(consumerId, toolId, withState(second.state)))
      assert.strictEqual(report.receipt.receipt_id, first.receiptId)
      assert.deepInclude(report.receipt, { status: "success", cost_microcents: MCP_PRICE, duration_ms: 21 })
      assert.deepInclude(report.answer, { attempts: 3, requestBytes: 300, responseBytes: 600 })
      yield* checkWallet(consumerId, PRICE, 0n)
      assert.lengthOf(yield* receiptsOf(consumerId), 1)
      assert.deepStrictEqual(
        provider.calls.map(({ exchange }) => exchange!.otherParams),
        [
          undefined,
          `"inputResponses":{"name":{"action":"accept","content":{"n":1.50}}},"requestState":"state 1"`,
          `"inputResponses":{"name":{"action":"accept","content":{"n":1.50}}},"requestState":"state 2"`
        ]
      )
      assert.strictEqual(new Set(provider.calls.map(({ invocationId }) => invocationId)).size, 1)
    })
  )

  it.effect("without a state of its own gets none back", () =>
    Effect.gen(function* () {
      const { consumerId, toolId } = yield* anAsker(0)
      provider.respond = () => Effect.succeed(provider.calls.length === 1 ? asking() : completed())
      const { state } = yield* asked(requestOf(consumerId, toolId))
      yield* settledBy(requestOf(consumerId, toolId, withState(state)))
      assert.notInclude(provider.calls[1]!.exchange!.otherParams, "requestState")
    })
  )

  it.effect("uses one free call", () =>
    Effect.gen(function* () {
      const { consumerId, toolId } = yield* anAsker(1, [{ freeTierCalls: 1 }])
      const { state } = yield* asked(requestOf(consumerId, toolId))
      yield* checkWallet(consumerId, 0n, 0n)
      const { report } = yield* settledBy(requestOf(consumerId, toolId, withState(state)))
      assert.deepInclude(report, { freeCallsLeft: 0 })
      yield* checkWallet(consumerId, 0n, 0n)
    })
  )

  it.effect("is voided by the sweeper if its caller never answers: cost 0, and not the provider's failure", () =>
    Effect.gen(function* () {
      const { consumerId, toolId } = yield* anAsker(1, [{ freeTierCalls: 0 }])
      const { receiptId, state } = yield* asked(requestOf(consumerId, toolId))
      yield* later("10 minutes")(sweep)
      yield* checkWallet(consumerId, 0n, PRICE)
      yield* later("11 minutes")(sweep)
      yield* checkWallet(consumerId, 0n, 0n)
      const [receipt] = yield* receiptsOf(consumerId)
      assert.deepInclude(receipt, { receipt_id: receiptId!, status: "error", cost_microcents: Microcents.make(0n) })
      const recorded = Option.getOrThrow(yield* (yield* ReceiptStore).settledOf(receiptId!))
      assert.strictEqual(recorded.cause, "canceled")
      assert.strictEqual(
        yield* rejectedFor(requestOf(consumerId, toolId, withState(state))),
        "RequestStateRejected used",
        "its call has ended, though the state has not expired on this clock"
      )
      assert.lengthOf(provider.calls, 1)
    })
  )

  it.effect("is voided by the sweeper if the node that resumed it stops before the settlement", () =>
    Effect.gen(function* () {
      const { consumerId, toolId } = yield* anAsker(1)
      const { receiptId, state } = yield* asked(requestOf(consumerId, toolId))
      const deadlineAt = DateTime.add(yield* DateTime.now, { seconds: 55 })
      const leg = { consumerId, invocationId: receiptId!, leg: 1, deadlineAt }
      assert.strictEqual((yield* (yield* CallStore).resume(leg))?._tag, "Opened")
      assert.strictEqual(
        yield* rejectedFor(requestOf(consumerId, toolId, withState(state))),
        "RequestStateRejected used"
      )
      yield* later("50 seconds")(sweep)
      yield* checkWallet(consumerId, 0n, PRICE)
      yield* later("1 minute")(sweep)
      yield* checkWallet(consumerId, 0n, 0n)
      assert.deepInclude((yield* receiptsOf(consumerId))[0], { receipt_id: receiptId!, status: "error" })
    })
  )

  it.effect("ends as an error if it still asks in its last leg", () =>
    Effect.gen(function* () {
      const { consumerId, toolId } = yield* anAsker(LEGS_MAX)
      let { state } = yield* asked(requestOf(consumerId, toolId))
      for (let leg = 2; leg < LEGS_MAX; leg++) {
        state = (yield* asked(requestOf(consumerId, toolId, withState(state)))).state
      }
      const { report } = yield* settledBy(requestOf(consumerId, toolId, withState(state)))
      assert.deepInclude(report.receipt, { status: "error", cost_microcents: Microcents.make(0n) })
      assert.strictEqual(report.answer.problem?.kind, "unfinished")
      yield* checkWallet(consumerId, 0n, 0n)
      assert.lengthOf(provider.calls, LEGS_MAX)
    })
  )

  it.effect("ends at no charge if its provider's state is too long, even where each attempt is charged", () =>
    Effect.gen(function* () {
      const { consumerId, toolId } = yield* anAsker(9, [{ billingPolicy: "attempt" }])
      const { state } = yield* asked(requestOf(consumerId, toolId))
      provider.respond = () => Effect.succeed(asking("x".repeat(PROVIDER_STATE_CHARS_MAX + 1)))
      const { report } = yield* settledBy(requestOf(consumerId, toolId, withState(state)))
      assert.include(report.answer.problem?.message, "requestState")
      yield* checkWallet(consumerId, 0n, 0n)
    })
  )

  it.effect("whose later leg fails is settled by that: free, or charged where each attempt is", () =>
    Effect.gen(function* () {
      for (const billingPolicy of ["success", "attempt"] as const) {
        const { consumerId, toolId } = yield* anAsker(1, [{ billingPolicy }])
        const { state } = yield* asked(requestOf(consumerId, toolId))
        // The adapter could not send the second request: the first one was an attempt.
        provider.respond = () =>
          Effect.succeed({ ...completed(), status: "error", result: undefined, attempts: 0 } as const)
        const { report } = yield* settledBy(requestOf(consumerId, toolId, withState(state)))
        assert.strictEqual(report.receipt.status, "error")
        yield* checkWallet(consumerId, billingPolicy === "attempt" ? PRICE : 0n, 0n)
      }
    })
  )

  it.effect("does not occupy a slot of calls in flight while it waits", () =>
    Effect.gen(function* () {
      const { consumerId, toolId } = yield* anAsker(1)
      yield* asked(requestOf(consumerId, toolId))
      yield* (yield* Metering).idle
    })
  )

  it.effect("keeps its idempotency key: in flight while it waits, its response afterwards, for each leg", () =>
    Effect.gen(function* () {
      const { consumerId, toolId } = yield* anAsker(1)
      const idempotency = { keyHash: "ab".repeat(32), requestHash: "cd".repeat(32) }
      const keyed = { idempotency }
      const { receiptId, state } = yield* asked(requestOf(consumerId, toolId, {}, keyed))
      const metering = yield* Metering
      const again = metering.call({ ...requestOf(consumerId, toolId, {}, keyed), exchange: undefined }, () => ({
        status: 200,
        headers: {},
        body: ""
      }))
      assert.strictEqual((yield* Effect.flip(again))._tag, "CallInFlight")
      const resumed = yield* settledBy(requestOf(consumerId, toolId, withState(state)))
      assert.strictEqual(resumed.answer.headers["x-receipt"], receiptId)
      for (const request of [
        requestOf(consumerId, toolId, {}, keyed),
        requestOf(consumerId, toolId, withState(state), keyed),
        requestOf(consumerId, toolId, withState(state))
      ]) {
        assert.deepStrictEqual(yield* callMcp(request), { _tag: "Replayed", answer: resumed.answer })
      }
      yield* checkWallet(consumerId, PRICE, 0n)
      assert.lengthOf(provider.calls, 2)
    })
  )

  it.effect("of a client of the legacy era ends as an error, because such a client cannot be asked", () =>
    Effect.gen(function* () {
      const { consumerId, toolId } = yield* anAsker(1)
      const { report } = yield* settledBy(requestOf(consumerId, toolId, exchangeOf({ inSession: true })))
      assert.strictEqual(report.answer.problem?.kind, "unfinished")
      yield* checkWallet(consumerId, 0n, 0n)
    })
  )
})

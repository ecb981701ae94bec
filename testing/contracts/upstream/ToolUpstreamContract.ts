/**
 * What a ToolUpstream must do, whatever runs its tools. Metering bills what it returns, so it never fails.
 */
import assert from "node:assert/strict"
import { Deferred, Effect, Fiber } from "effect"
import { ToolUpstream, type UpstreamCall } from "../../../domain/upstream/ToolUpstream.ts"
import { ConsumerId, ProviderId, ToolId } from "../../../domain/shared/Ids.ts"
import { type Contract, rule } from "../shared/Contract.ts"
import { aReceiptId } from "../shared/CallSamples.ts"
import { uuid } from "../shared/LedgerSamples.ts"

/** How a call reaches each of four tools that you run for the contract, such as their `endpointUrl` or `toolName`. */
export interface ContractTools {
  /** Returns a result. */
  readonly succeeds: Partial<UpstreamCall>
  /** Returns a result with `isError: true`. */
  readonly fails: Partial<UpstreamCall>
  /** Breaks without a result. */
  readonly breaks: Partial<UpstreamCall>
  /** Never responds. */
  readonly hangs: Partial<UpstreamCall>
}

const TIMEOUT_MS = 300
/** Timers may fire a little early. */
const EARLY_MS_MAX = 20

const aCallOf = Effect.fnUntraced(function* (tool: Partial<UpstreamCall>) {
  const call: UpstreamCall = {
    invocationId: yield* aReceiptId,
    consumerId: ConsumerId.make(yield* uuid),
    providerId: ProviderId.make(yield* uuid),
    providerName: "Weather Works",
    endpointUrl: "https://example.com/mcp",
    toolId: ToolId.make(yield* uuid),
    toolName: "forecast",
    arguments: {},
    timeoutMs: 10_000,
    retriesMax: 0,
    idempotent: false,
    ...tool
  }
  return call
})

/** What a ToolUpstream must do. The rules wait for real time-outs: do not run them under TestClock. */
export const toolUpstreamContract = (tools: ContractTools): Contract<ToolUpstream> => [
  rule(
    "returns a tool's result, and reports the attempt when the request is sent",
    Effect.gen(function* () {
      const attempts: Array<number> = []
      const onForwarded = (attempt: number) => void attempts.push(attempt)
      const response = yield* (yield* ToolUpstream).call(yield* aCallOf({ ...tools.succeeds, onForwarded }))
      assert.deepEqual([response.status, response.problem, response.attempts], ["success", undefined, 1])
      assert.notEqual(response.result, undefined)
      assert.ok(response.latencyMs >= 0 && response.requestBytes >= 0 && response.responseBytes >= 0)
      assert.deepEqual(attempts, [1])
    })
  ),

  rule(
    "returns a tool's own error with its result",
    Effect.gen(function* () {
      const response = yield* (yield* ToolUpstream).call(yield* aCallOf(tools.fails))
      assert.equal(response.status, "error")
      assert.equal(response.result?.["isError"], true)
      assert.equal(response.problem, undefined)
    })
  ),

  rule(
    "returns a sentence instead of a result when the tool breaks, and never fails",
    Effect.gen(function* () {
      const response = yield* (yield* ToolUpstream).call(yield* aCallOf(tools.breaks))
      assert.deepEqual([response.status, response.result], ["error", undefined])
      assert.match(response.problem?.message ?? "", /^[^\n]+$/u)
    })
  ),

  rule(
    "ends a call at its time-out",
    Effect.gen(function* () {
      const response = yield* (yield* ToolUpstream).call(yield* aCallOf({ ...tools.hangs, timeoutMs: TIMEOUT_MS }))
      assert.deepEqual([response.status, response.result, response.problem?.kind], ["timeout", undefined, "timeout"])
      assert.ok(response.latencyMs >= TIMEOUT_MS - EARLY_MS_MAX, `it ended after ${response.latencyMs} ms`)
    })
  ),

  rule(
    "ends a call that is interrupted, and the next one works",
    Effect.gen(function* () {
      const { call } = yield* ToolUpstream
      const forwarded = yield* Deferred.make<void>()
      const onForwarded = () => void Deferred.doneUnsafe(forwarded, Effect.void)
      const fiber = yield* Effect.forkChild(call(yield* aCallOf({ ...tools.hangs, onForwarded })))
      yield* Deferred.await(forwarded)
      yield* Fiber.interrupt(fiber)
      assert.equal((yield* call(yield* aCallOf(tools.succeeds))).status, "success")
    })
  )
]

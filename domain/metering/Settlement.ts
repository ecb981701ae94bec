/**
 * The last step of a call: the cost of its response by the tool's policy, the receipt, and the durable closing of the call.
 */
import { Clock, Context, DateTime, Effect, Schedule } from "effect"
import { JsonSchemas } from "../catalog/JsonSchemas.ts"
import type { Tool } from "../catalog/Tool.ts"
import { causeOf, enderOf, type Receipt, Receipts } from "../receipts/Receipts.ts"
import type { ConsumerId, ReceiptId } from "../shared/Ids.ts"
import { zero } from "../shared/Microcents.ts"
import type { StoreUnavailable } from "../shared/StoreUnavailable.ts"
import { step } from "../shared/Telemetry.ts"
import { monotonicMs } from "../shared/Time.ts"
import type { UpstreamResponse } from "../upstream/ToolUpstream.ts"
import { CallOverdue, type CallReport, type HeldCall, retrySettlement } from "./Call.ts"
import {
  CallStore,
  type KeptResult,
  makeRetainedResultQuota,
  RETAINED_RESULT_MS_MAX,
  retainedResult
} from "./CallStore.ts"
import { billedAmount, canceledAmount } from "./CallTerms.ts"
import { CallTally } from "./CallsInFlight.ts"
import { ToolDirectory } from "./ToolDirectory.ts"

// Paid calls whose output does not fit the tool's output schema. Outputs are not stored, so this record is the only evidence
// for a dispute.

/** The period in which a call can be disputed, plus a day. */
export const UNFIT_DAYS_KEPT = 31

/** A result that did not match the tool's output schema, which counts as evidence in a dispute. */
export interface UnfitOutput {
  readonly consumerId: ConsumerId
  readonly receiptId: ReceiptId
}

/** `note` is a separate transaction, before the call's settlement. Noting a call twice records it once. */
export class UnfitOutputs extends Context.Service<
  UnfitOutputs,
  {
    note(output: UnfitOutput, at: DateTime.Utc): Effect.Effect<void, StoreUnavailable>
    isRecorded(output: UnfitOutput): Effect.Effect<boolean, StoreUnavailable>
    /** Deletes at most `limit` records noted before this time; returns how many. */
    prune(before: DateTime.Utc, limit: number): Effect.Effect<number, StoreUnavailable>
  }
>()("agent-tool-billing/domain/metering/UnfitOutputs") {}

// Whether a tool's output fits its output schema. Tools with the policy `valid_output` are paid by this, and disputes are
// decided by it.

/** Seconds. */
const RECHECKS_MAX = 2

/** Undefined: there is nothing to check, or other providers have used up the processing time of the service. */
export const makeOutputCheck = Effect.gen(function* () {
  const schemas = yield* JsonSchemas

  return Effect.fnUntraced(function* (
    tool: Pick<Tool, "outputSchema" | "providerId">,
    { result }: Pick<UpstreamResponse, "result">
  ) {
    const output = result?.["structuredContent"]
    if (tool.outputSchema === undefined || result === undefined) return undefined
    if (output === undefined) return false
    const check = schemas.violations(tool.outputSchema, output, { providerId: tool.providerId, of: "output" })
    // If the provider's own schemas used up their time, the output counts as unfit. Time used up by other providers does not
    // count against it: no dispute is decided by that.
    return yield* Effect.retry(check, { schedule: Schedule.spaced("1 second"), times: RECHECKS_MAX }).pipe(
      Effect.map((violations): boolean | undefined => violations.length === 0),
      Effect.catch((spent) => Effect.succeed(spent.of === "provider" ? false : undefined))
    )
  })
})

/**
 * Made once, not per call. The objects of a generator have their own hidden class, which lives long and retains everything
 * that the generator closes over. As a closure per call, a sixth of the memory that calls allocate outlived them.
 */
export const makeSettle = Effect.gen(function* () {
  const calls = yield* CallStore
  const outputFits = yield* makeOutputCheck
  const receipts = yield* Receipts
  const tally = yield* CallTally
  const unfit = yield* UnfitOutputs
  const directory = yield* ToolDirectory
  const clock = yield* Clock.Clock
  const isKept = makeRetainedResultQuota(clock)

  /** The response for replays of the call; undefined where its key is released, or it has none. */
  const answerFor = (
    { progress, request }: HeldCall,
    receipt: Receipt,
    answered: boolean,
    canceled: boolean,
    rendered: KeptResult
  ): KeptResult | undefined => {
    if (request.idempotency === undefined) return undefined
    // Never forwarded, or cut off by a shutdown: nothing was delivered, so the key is released.
    if (!answered && !canceled && receipt.cost_microcents === zero) return undefined
    if (!answered || !progress.left) return rendered
    const kept = isKept(request.consumerId, rendered.body.length)
    return retainedResult(rendered, receipt, kept ? Date.parse(receipt.created_at) + RETAINED_RESULT_MS_MAX : 0)
  }

  /** `answered`: the response is the provider's own. */
  return Effect.fnUntraced(function* (call: HeldCall, answer: UpstreamResponse, answered: boolean) {
    const { entry, feeBasisPoints, invocationId, opened, openedAt, progress, request } = call
    const { provider, tool } = entry
    const fits = tool.outputSchema === undefined ? undefined : yield* outputFits(tool, answer)
    const canceled = progress.canceled && !answered
    const cost = canceled
      ? canceledAmount(entry.cancellation, entry.price, opened)
      : enderOf(answer) === "service"
        ? zero
        : billedAmount({
            status: answer.status,
            policy: entry.billingPolicy,
            held: opened.held,
            price: entry.price,
            free: opened.free,
            attempted: answer.attempts > 0,
            result: answer.result,
            outputFits: fits
          })
    const issued = receipts.issue(
      {
        invocationId,
        toolId: tool.id,
        toolName: tool.toolName,
        consumerId: request.consumerId,
        providerId: provider.id,
        calledAt: openedAt,
        durationMs: answer.latencyMs,
        cost,
        status: answer.status
      },
      call.endedAt ?? (yield* DateTime.now)
    )
    const receipt = yield* Effect.catchCause(issued, (cause) => retrySettlement(issued, cause))
    // A success that the tool's policy does not charge does not use up a free call either.
    const usesFreeCall = canceled
      ? entry.cancellation === "price"
      : answer.status === "success" && !(entry.billingPolicy === "valid_output" && fits !== true)
    const report: CallReport = {
      entry,
      receipt,
      answer,
      availableMicrocents: opened.availableMicrocents + opened.held - cost,
      freeCallsLeft:
        opened.freeCallsLeft === undefined ? undefined : opened.freeCallsLeft + (opened.free && !usesFreeCall ? 1 : 0)
    }
    const rendered = call.render(report)
    const close = calls.close({
      consumerId: request.consumerId,
      receipt,
      cause: causeOf(answer),
      feeBasisPoints,
      held: opened.held,
      priceVersion: entry.priceVersion,
      origin: "proxy",
      requestBytes: answer.requestBytes,
      responseBytes: answer.responseBytes,
      requestId: request.requestId,
      holdMs: call.holdMs,
      free: opened.free,
      usesFreeCall,
      keyHash: request.idempotency?.keyHash,
      answer: answerFor(call, receipt, answered, canceled, rendered)
    })
    // Before the settlement, so that every paid call with an unfit output is recorded.
    const closing =
      fits === false && cost > zero
        ? Effect.andThen(unfit.note({ consumerId: request.consumerId, receiptId: invocationId }, openedAt), close)
        : close
    const pinning = answer.status === "success" ? directory.pinning(request.tool, entry) : undefined
    const ending = pinning === undefined ? closing : Effect.andThen(pinning, closing)
    const closesMs = monotonicMs(clock)
    const closed = yield* step(
      Effect.catchCause(ending, (cause) => retrySettlement(ending, cause)),
      "Metering.settle"
    )
    tally.took("settle", monotonicMs(clock) - closesMs)
    if (closed._tag === "AlreadyClosed") return yield* new CallOverdue({ receiptId: invocationId })
    tally.count("proxy", answer.status)
    return { _tag: "Settled" as const, report, answer: rendered }
  })
})

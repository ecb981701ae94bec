/**
 * The call: quote → hold → forward → settle → receipt. A call without a hold is not forwarded; a forwarded call ends in
 * exactly one receipt; the caller gets its response only after the durable settlement.
 */
import { Context, DateTime, Effect, Layer } from "effect"
import { zero } from "../shared/Microcents.ts"
import type { StoreUnavailable } from "../shared/StoreUnavailable.ts"
import type { CallOutcome, CallQuote, CallReport, CallRequest, Unsettled } from "./Call.ts"
import { type CallRejected, requirePermitted } from "./CallRejections.ts"
import { CallRuns } from "./CallRun.ts"
import { CallStore, type KeptResult } from "./CallStore.ts"
import { quotedHoldFor } from "./CallTerms.ts"
import {
  makeDirectMetering,
  type Metered,
  type MeterOutcome,
  type MeterRejected,
  type MeterRequest
} from "./DirectMetering.ts"
import { makeNewCalls } from "./NewCalls.ts"
import { ToolDirectory } from "./ToolDirectory.ts"

export class Metering extends Context.Service<
  Metering,
  {
    /** The provider is not called, and nothing is reserved. */
    quote(request: CallRequest): Effect.Effect<CallQuote, CallRejected | StoreUnavailable>
    /**
     * `render` makes the response that is stored for replays; it runs once, before the settlement. Interruption means that
     * the caller disconnected: before the call is forwarded it is voided; afterwards it runs to completion without the
     * caller, unless the tool passes cancellations.
     */
    call(
      request: CallRequest,
      render: (report: CallReport) => KeptResult
    ): Effect.Effect<CallOutcome, CallRejected | Unsettled>
    /** Bills a call that did not pass through the proxy: one of the caller's own, or of the caller's tool under a grant. */
    record(
      request: MeterRequest,
      render: (metered: Metered) => KeptResult
    ): Effect.Effect<MeterOutcome, MeterRejected | Unsettled>
    /** Waits until no call is in flight. */
    readonly idle: Effect.Effect<void>
    /** For shutdown: cancels the calls in flight and waits for their settlement. */
    readonly cancelAll: Effect.Effect<void>
  }
>()("agent-tool-billing/domain/metering/Metering") {
  static readonly layer = Layer.effect(
    Metering,
    Effect.gen(function* () {
      const directory = yield* ToolDirectory
      const calls = yield* CallStore
      const { record } = yield* makeDirectMetering
      const { cancelAll, idle } = yield* CallRuns
      const newCalls = yield* makeNewCalls

      const call = (
        request: CallRequest,
        render: (report: CallReport) => KeptResult
      ): Effect.Effect<CallOutcome, CallRejected | Unsettled> => newCalls.call(request, render)

      const quote = Effect.fn("Metering.quote")(function* (request: CallRequest) {
        const entry = yield* directory.find(request.tool)
        const hold = yield* quotedHoldFor(entry, request)
        yield* requirePermitted(request.levels ?? [], entry, hold)
        yield* newCalls.checkArguments(entry, request.arguments)
        const { availableMicrocents, freeCallsUsed } = yield* calls.callFunds(
          request.consumerId,
          entry.tool.id,
          yield* DateTime.now
        )
        const freeCalls = hold === zero ? 0 : entry.freeTierCalls
        const freeCallsLeft = freeCalls === 0 ? undefined : Math.max(0, freeCalls - freeCallsUsed)
        const free = freeCallsLeft !== undefined && freeCallsLeft > 0
        return { entry, cost: free ? zero : entry.price, hold: free ? zero : hold, freeCallsLeft, availableMicrocents }
      })

      return Metering.of({ quote, call, record, idle, cancelAll })
    })
  ).pipe(Layer.provide(CallRuns.layer))
}

/**
 * The call: quote → hold → forward → settle → receipt. A call without a hold is not forwarded; a forwarded call ends in
 * exactly one receipt; the caller gets its response only after the durable settlement.
 */
import { Clock, Context, DateTime, Effect, Layer } from "effect"
import type { CatalogEntry } from "../catalog/CatalogStore.ts"
import { JsonSchemas } from "../catalog/JsonSchemas.ts"
import { BookGuard } from "../ledger/BookGuard.ts"
import { basisPointsAt, DefaultFeeBasisPoints } from "../ledger/PlatformFee.ts"
import { Entropy } from "../shared/Entropy.ts"
import { receiptIdOf } from "../shared/Ids.ts"
import { zero } from "../shared/Microcents.ts"
import { monotonicMs } from "../shared/Monotonic.ts"
import { step } from "../shared/TraceSampler.ts"
import type { CallOutcome, CallQuote, CallReport, CallRequest } from "./Call.ts"
import { type Unsettled, withoutAnswer } from "./CallEndings.ts"
import { replayOrFail, type CallRejected, InvalidArguments, rejectionOf } from "./CallRejections.ts"
import { CallStore, type KeptResult } from "./CallStore.ts"
import { type CallProgress, makeCallsInFlight } from "./CallsInFlight.ts"
import { CallTally } from "./CallTally.ts"
import { makeForwarding } from "./Forwarding.ts"
import { deadlineOf, holdFor, quotedHoldFor } from "./CallTerms.ts"
import { makeDirectMetering, type MeterRejected } from "./DirectMetering.ts"
import type { Metered, MeterOutcome, MeterRequest } from "./MeterReport.ts"
import { replayedResult } from "./RetainedResults.ts"
import { type HeldCall, makeSettle } from "./Settlement.ts"
import { ToolDirectory } from "./ToolDirectory.ts"
import type { UpstreamCall, UpstreamResponse } from "./ToolUpstream.ts"
import { UpstreamLimits } from "./UpstreamLimits.ts"
import type { StoreUnavailable } from "../shared/StoreUnavailable.ts"

export class Metering extends Context.Service<
  Metering,
  {
    /** What the call would cost now. The provider is not called, and nothing is reserved. */
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
      const schemas = yield* JsonSchemas
      const calls = yield* CallStore
      const forwardInTime = yield* makeForwarding
      const entropy = yield* Entropy
      const limits = yield* UpstreamLimits
      const tally = yield* CallTally
      const book = yield* BookGuard
      const defaultFee = yield* DefaultFeeBasisPoints
      const settle = yield* makeSettle
      const { record } = yield* makeDirectMetering
      const { cancelAll, idle, run, runInline } = yield* makeCallsInFlight
      const clock = yield* Clock.Clock

      const callNow = Effect.fnUntraced(function* (request: CallRequest, render: (report: CallReport) => KeptResult) {
        const entry = yield* directory.find(request.tool)
        const { tool, provider } = entry
        const holdAmount = yield* holdFor(entry, request)
        if (tool.inputSchema !== undefined) yield* checkArguments(entry, request.arguments)
        const invocationId = receiptIdOf(yield* entropy.uuid)
        request.onNamed?.(invocationId)
        const openedAt = yield* DateTime.now
        const feeBasisPoints = basisPointsAt(provider.fee, defaultFee, openedAt.epochMilliseconds)
        const timeoutMs = tool.timeoutMs ?? limits.timeoutMs
        const opensMs = monotonicMs(clock)
        const opening = calls.open({
          invocationId,
          consumerId: request.consumerId,
          providerId: provider.id,
          toolId: tool.id,
          toolName: tool.toolName,
          priceVersion: entry.priceVersion,
          holdAmount,
          feeBasisPoints,
          freeTierCalls: holdAmount === zero ? 0 : entry.freeTierCalls,
          origin: "proxy",
          openedAt,
          deadlineAt: DateTime.addDuration(openedAt, deadlineOf(timeoutMs, limits)),
          idempotency: request.idempotency
        })
        const progress: CallProgress = {
          passesCancel: entry.leaving !== "outcome",
          forwarded: 0,
          ended: false,
          left: false,
          canceled: false
        }
        const forward = Effect.suspend(() =>
          forwardInTime(
            {
              invocationId,
              consumerId: request.consumerId,
              providerId: provider.id,
              providerName: provider.name,
              endpointUrl: provider.endpointUrl,
              toolId: tool.id,
              toolName: tool.toolName,
              arguments: request.arguments,
              timeoutMs,
              retriesMax: limits.retriesMax,
              idempotent: tool.idempotent,
              maxCost: entry.maximum > entry.price ? holdAmount : undefined,
              onForwarded: (attempt) => {
                if (!progress.ended) progress.forwarded = attempt
              },
              onProgress: untilEnded(progress, request.onProgress),
              exchange: request.exchange
            },
            progress
          )
        )

        const guarded = ({ held }: HeldCall["opened"]) =>
          held === zero || book.isConfirmed() ? forward : Effect.andThen(book.confirm, forward)

        const held = Effect.uninterruptibleMask((restore) =>
          Effect.flatMap(
            step(opening, "Metering.hold"),
            (opened): Effect.Effect<CallOutcome, CallRejected | Unsettled> => {
              if (opened._tag !== "Opened") return Effect.flatMap(rejectionOf(opened, holdAmount), replayed)
              const heldMs = monotonicMs(clock)
              tally.took("hold", heldMs - opensMs)
              request.onHeld?.()
              const held: HeldCall = {
                request,
                entry,
                invocationId,
                openedAt,
                feeBasisPoints,
                opened,
                progress,
                render
              }
              return Effect.flatMap(Effect.exit(restore(step(guarded(opened), "Metering.forward"))), (exit) => {
                tally.took("forward", monotonicMs(clock) - heldMs)
                return exit._tag === "Success"
                  ? releasing(exit.value, settle(held, exit.value, true))
                  : // Canceled, or the adapter broke: that is what is settled.
                    Effect.andThen(
                      settle(held, withoutAnswer(exit.cause, progress, monotonicMs(clock) - heldMs), false),
                      Effect.failCause(exit.cause)
                    )
              })
            }
          )
        )
        const { provideLeave: attend, consumerId } = request
        return yield* attend === undefined
          ? run(consumerId, progress, held)
          : runInline(consumerId, progress, held, attend)
      })

      /** The response is replayed as long as it is stored. */
      const replayed = ({ answer }: { readonly answer: KeptResult }) =>
        Effect.flatMap(DateTime.now, (now) =>
          Effect.map(replayedResult(answer, now.epochMilliseconds), (kept) => ({
            _tag: "Replayed" as const,
            answer: kept
          }))
        )

      const call = (
        request: CallRequest,
        render: (report: CallReport) => KeptResult
      ): Effect.Effect<CallOutcome, CallRejected | Unsettled> => {
        const { consumerId, idempotency } = request
        if (idempotency === undefined) return callNow(request, render)
        const before = replayOrFail(calls, consumerId, idempotency)
        return callNow(request, render).pipe(
          Effect.catch((rejection) =>
            rejection._tag === "ResultNotRetained"
              ? Effect.fail(rejection)
              : Effect.flatMap(before(rejection), replayed)
          )
        )
      }

      const quote = Effect.fn("Metering.quote")(function* (request: CallRequest) {
        const entry = yield* directory.find(request.tool)
        const hold = yield* quotedHoldFor(entry, request)
        yield* checkArguments(entry, request.arguments)
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

      const checkArguments = Effect.fnUntraced(function* (
        { provider, tool }: CatalogEntry,
        given: CallRequest["arguments"]
      ) {
        if (tool.inputSchema === undefined) return
        const violations = yield* schemas.violations(tool.inputSchema, given, { providerId: provider.id, of: "input" })
        if (violations.length > 0) return yield* new InvalidArguments({ violations })
      })

      return Metering.of({ quote, call, record, idle, cancelAll })
    })
  )
}

const untilEnded = (progress: CallProgress, report: UpstreamCall["onProgress"]): UpstreamCall["onProgress"] =>
  report === undefined
    ? undefined
    : (reported) => {
        if (!progress.ended) report(reported)
      }

/** A large response counts toward the memory limit of the service until its call is settled. */
const releasing = <A, E>({ release }: UpstreamResponse, settled: Effect.Effect<A, E>): Effect.Effect<A, E> =>
  release === undefined ? settled : Effect.onExit(settled, () => Effect.sync(release))

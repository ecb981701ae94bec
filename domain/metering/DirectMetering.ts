/**
 * `Metering.record`: calls that did not pass through the proxy, reported afterwards. A consumer reports its own calls and is
 * billed as for proxied ones. A provider reports calls of its own tools and bills a consumer only within a grant of that
 * consumer.
 */
import { type Cause, DateTime, Duration, Effect, Exit, Schema } from "effect"
import { Catalog } from "../catalog/Catalog.ts"
import type { CatalogEntry } from "../catalog/CatalogStore.ts"
import { ConsumerId, type ProviderId, type ReceiptId } from "../shared/Ids.ts"
import { type Microcents, zero } from "../shared/Microcents.ts"
import { format } from "../shared/Timestamp.ts"
import type { CallOverdue, Unsettled } from "./CallEndings.ts"
import { makeCallNames } from "./CallNames.ts"
import { CallStore, type KeptResult } from "./CallStore.ts"
import {
  type AccountFrozen,
  replayOrFail,
  type BudgetExceeded,
  CallConflict,
  type CallInFlight,
  type InsufficientFunds
} from "./CallRejections.ts"
import type { Reservation } from "./Grant.ts"
import type { Metered, MeterOutcome, MeterRequest } from "./MeterReport.ts"
import { MeterKeyStore } from "./MeterKeyStore.ts"
import { makeBillReport } from "./ReportBilling.ts"
import { termsOfReport } from "./ReportedTerms.ts"
import { type NoGrant, Reservations } from "./Reservations.ts"
import { ToolDirectory, type ToolUnresolved } from "./ToolDirectory.ts"

/** A key reports calls of its own account only, or of its own tools. */
export class NotYours extends Schema.TaggedError<NotYours>()("NotYours", {
  what: Schema.Literals(["call", "tool"])
}) {
  override get message() {
    return this.what === "call"
      ? "A consumer key meters its own calls only: leave agent_id out, or send your own."
      : "A provider key meters its own tools only."
  }
}

/** A provider reported a cost above the maximum that the tool declares. Nothing was charged. */
export class CostTooHigh extends Schema.TaggedError<CostTooHigh>()("CostTooHigh", {
  costMicrocents: Schema.BigInt,
  maxMicrocents: Schema.BigInt
}) {
  override get message() {
    return `This tool costs at most ${this.maxMicrocents} microcents a call; ${this.costMicrocents} were reported.`
  }
}

/** A report says when the call was made, and that is too long ago or in the future. */
export class CallTimeRejected extends Schema.TaggedError<CallTimeRejected>()("CallTimeRejected", {
  calledAt: Schema.String
}) {
  override get message() {
    return `timestamp ${this.calledAt} must lie within the last ${REPORT_DAYS_MAX} days and not in the future.`
  }
}

/** Why a reported call was not recorded. Nothing was charged. */
export type MeterRejected =
  | ToolUnresolved
  | NotYours
  | NoGrant
  | CostTooHigh
  | CallTimeRejected
  | InsufficientFunds
  | BudgetExceeded
  | AccountFrozen
  | CallConflict
  | CallInFlight
  | CallOverdue

export const REPORT_DAYS_MAX = 7
const CLOCK_SKEW = Duration.minutes(5)

export const makeDirectMetering = Effect.gen(function* () {
  const catalog = yield* Catalog
  const directory = yield* ToolDirectory
  const calls = yield* CallStore
  const reservations = yield* Reservations
  const keys = yield* MeterKeyStore
  const nameCall = yield* makeCallNames
  const billReport = yield* makeBillReport

  /** What a success costs, and the grant that it counts against. */
  const terms = Effect.fnUntraced(function* (request: MeterRequest, entry: CatalogEntry, invocationId: ReceiptId) {
    const { caller } = request
    if (caller.role === "consumer") {
      if (request.consumerId !== undefined && request.consumerId !== caller.ownerId) {
        return yield* new NotYours({ what: "call" })
      }
      // The list price, as for a proxied call whose provider reports no cost. A cost reported by the consumer is
      // ignored, because it could only lower the price; so the call needs no cap either.
      const price = request.status === "success" ? entry.price : zero
      return { consumerId: caller.ownerId, price, freeTier: true, reservation: undefined }
    }
    if (entry.provider.id !== caller.ownerId) return yield* new NotYours({ what: "tool" })
    if (request.consumerId === undefined) {
      // The provider's own test call: on its own account, at no cost.
      return { consumerId: ConsumerId.make(caller.ownerId), price: zero, freeTier: false, reservation: undefined }
    }
    const most = entry.maximum
    const wanted = request.status === "success" ? (request.cost ?? entry.price) : zero
    if (wanted > most) return yield* new CostTooHigh({ costMicrocents: wanted, maxMicrocents: most })
    const reservation = yield* reservations.reserve({
      consumerId: request.consumerId,
      providerId: caller.ownerId,
      toolId: entry.tool.id,
      invocationId,
      amount: wanted
    })
    return { consumerId: request.consumerId, price: wanted, freeTier: true, reservation }
  })

  const recordNow = Effect.fn("Metering.record")(function* (
    request: MeterRequest,
    render: (metered: Metered) => KeptResult
  ) {
    const now = yield* DateTime.now
    const calledAt = request.calledAt ?? now
    const listed = yield* directory.find(request.tool, calledAt)
    if (!isReportable(calledAt, now)) return yield* new CallTimeRejected({ calledAt: format(calledAt) })
    const entry = yield* termsOfReport(catalog, listed, calledAt)
    // By the fee of now, not of the time that the report states: a provider must not choose its fee.
    const named = yield* nameCall(entry.provider.fee, now)
    const { invocationId } = named
    request.onNamed?.(invocationId)
    const agreed = yield* terms(request, entry, invocationId)
    const { reservation } = agreed
    const run = billReport({ request, render, entry, ...named, calledAt, now, ...agreed })
    return yield* reservation === undefined ? run : Effect.onExit(run, (exit) => settle(reservation, exit))
  }, Effect.uninterruptible)

  /**
   * Settles the reservation by the outcome of the report. Where the outcome is unknown, or this fails too, the sweeper
   * settles it.
   */
  const settle = (
    reservation: Reservation,
    exit: Exit.Exit<MeterOutcome, MeterRejected | Unsettled>
  ): Effect.Effect<void> => {
    const settling =
      Exit.isFailure(exit) && !onlyRejected(exit.cause)
        ? reservations.resolve(reservation)
        : reservations.settle(reservation, billedBy(exit))
    return Effect.ignoreCause(settling, { log: "Warn" })
  }

  /** For a provider: a key bills one consumer. A rejected report leaves the key unchanged. */
  const withKey = <A>(
    providerId: ProviderId,
    billed: ConsumerId,
    keyHash: string,
    once: Effect.Effect<A, MeterRejected | Unsettled>
  ) =>
    Effect.gen(function* () {
      const key = { providerId, keyHash, consumerId: billed }
      if (!(yield* keys.bind(key, yield* DateTime.now))) return yield* new CallConflict()
      return yield* Effect.onExit(once, (exit) =>
        Exit.isFailure(exit) && onlyRejected(exit.cause)
          ? Effect.ignoreCause(keys.release(key), { log: "Warn" })
          : Effect.void
      )
    })

  const record = (
    request: MeterRequest,
    render: (metered: Metered) => KeptResult
  ): Effect.Effect<MeterOutcome, MeterRejected | Unsettled> => {
    const { caller, idempotency } = request
    if (idempotency === undefined) return recordNow(request, render)
    const billed = caller.role === "consumer" ? caller.ownerId : (request.consumerId ?? ConsumerId.make(caller.ownerId))
    const once = recordNow(request, render).pipe(Effect.catch(replayOrFail(calls, billed, idempotency)))
    return caller.role === "consumer" ? once : withKey(caller.ownerId, billed, idempotency.keyHash, once)
  }

  return { record }
})

/** A rejection changed nothing. After any other failure, also of the store or the signer, the outcome is unknown. */
const onlyRejected = (cause: Cause.Cause<MeterRejected | Unsettled>): boolean =>
  cause.reasons.every(
    (reason) =>
      reason._tag === "Fail" && reason.error._tag !== "StoreUnavailable" && reason.error._tag !== "SignerUnavailable"
  )

const billedBy = (exit: Exit.Exit<MeterOutcome, MeterRejected | Unsettled>): Microcents =>
  Exit.isSuccess(exit) && exit.value._tag === "Recorded" ? exit.value.metered.receipt.cost_microcents : zero

const isReportable = (calledAt: DateTime.Utc, now: DateTime.Utc): boolean =>
  DateTime.isLessThanOrEqualTo(calledAt, DateTime.addDuration(now, CLOCK_SKEW)) &&
  DateTime.isGreaterThanOrEqualTo(calledAt, DateTime.subtract(now, { days: REPORT_DAYS_MAX }))

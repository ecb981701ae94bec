/**
 * `Metering.record`: calls that did not pass through the proxy, reported afterwards. A consumer reports its own calls and is
 * billed as for proxied ones. A provider reports calls of its own tools and bills a consumer only within a grant of that
 * consumer.
 */
import { type Cause, Context, DateTime, Duration, Effect, Exit, Schema } from "effect"
import type { KeyOwner } from "../accounts/Authentication.ts"
import { Catalog } from "../catalog/Catalog.ts"
import type { CatalogEntry } from "../catalog/CatalogStore.ts"
import { better, noWorse } from "../catalog/Terms.ts"
import { BookGuard } from "../ledger/Ledger.ts"
import { type Receipt, Receipts } from "../receipts/Receipts.ts"
import { ConsumerId, type ProviderId, type ReceiptId } from "../shared/Ids.ts"
import { formatAmount, type Microcents, zero } from "../shared/Microcents.ts"
import type { StoreUnavailable } from "../shared/StoreUnavailable.ts"
import { format } from "../shared/Time.ts"
import type { CallStatus } from "../upstream/ToolUpstream.ts"
import { CallOverdue, type Unsettled } from "./Call.ts"
import {
  type AccountFrozen,
  type BudgetExceeded,
  CallConflict,
  type CallInFlight,
  type CallNotAllowed,
  type InsufficientFunds,
  rejectionOf,
  replayOrFail,
  requirePermitted
} from "./CallRejections.ts"
import { type CallIdempotency, CallStore, type KeptResult } from "./CallStore.ts"
import { CallTally } from "./CallsInFlight.ts"
import { type NoGrant, OPENED_WITHIN, type Reservation, Reservations } from "./Grants.ts"
import { makeCallNames, ToolDirectory, type ToolReference, type ToolUnresolved } from "./ToolDirectory.ts"

// The consumer that a provider's Idempotency-Key bills. Calls and the responses for their replays are stored per billed
// consumer, so a key is durably bound to one consumer before it bills.

/** An idempotency key of a provider's reports, and the consumer whom the first report billed. */
export interface MeterKey {
  readonly providerId: ProviderId
  /** SHA-256 of scope and key, hex. */
  readonly keyHash: string
  readonly consumerId: ConsumerId
}

/** Each operation is a separate transaction: it does not join a unit of work. */
export class MeterKeyStore extends Context.Service<
  MeterKeyStore,
  {
    /** Binds the key. Binding it again to the same consumer adds a binding; false where it is bound to another consumer. */
    bind(key: MeterKey, at: DateTime.Utc): Effect.Effect<boolean, StoreUnavailable>
    /** Removes one binding, because its report changed nothing. Without bindings any consumer can be billed with the key. */
    release(key: MeterKey): Effect.Effect<void, StoreUnavailable>
    /** Deletes at most `limit` keys last bound before this time; returns how many. */
    prune(before: DateTime.Utc, limit: number): Effect.Effect<number, StoreUnavailable>
  }
>()("agent-tool-billing/domain/metering/MeterKeyStore") {}

// A call that was reported, not proxied.

/** A call that did not go through the proxy, as its consumer or its provider reports it. */
export interface MeterRequest {
  readonly caller: KeyOwner
  readonly tool: ToolReference
  /** The consumer to bill; a provider's report without one is a test call of its own. */
  readonly consumerId: ConsumerId | undefined
  readonly status: CallStatus
  readonly durationMs: number
  readonly tokensInput: number
  readonly tokensOutput: number
  readonly cost: Microcents | undefined
  readonly calledAt: DateTime.Utc | undefined
  readonly idempotency: CallIdempotency | undefined
  /** As its caller knows it: stored with the call. */
  readonly requestId?: string | undefined
  /** Called when the call has its id. The call may still end without a receipt. */
  readonly onReceiptId?: (invocationId: ReceiptId) => void
}

/** The receipt of a reported call, and what the consumer has left. */
export interface Metered {
  readonly entry: CatalogEntry
  readonly receipt: Receipt
  readonly availableMicrocents: bigint
}

/** How a report ended: recorded with a receipt, or replayed for a repeated idempotency key. */
export type MeterOutcome =
  | { readonly _tag: "Recorded"; readonly metered: Metered; readonly answer: KeptResult }
  | { readonly _tag: "Replayed"; readonly answer: KeptResult }

// The terms of a reported call. A provider chooses the time in its report. For a call from before the last change, each term
// is the one that is better for the consumer, then or now: neither a late nor a backdated report charges more than either.

export const termsOfReport = (
  catalog: Catalog["Service"],
  entry: CatalogEntry,
  calledAt: DateTime.Utc
): Effect.Effect<CatalogEntry, StoreUnavailable> => {
  if (DateTime.isGreaterThanOrEqualTo(calledAt, entry.prices.inEffect.effectiveFrom)) return Effect.succeed(entry)
  return Effect.map(catalog.prices(entry.tool.id), (versions) => {
    const before = versions.filter((version) => version.version < entry.priceVersion)
    const then =
      before.find((version) => DateTime.isLessThanOrEqualTo(version.effectiveFrom, calledAt)) ?? before.at(-1)
    if (then === undefined) return entry
    // A report has no output that a schema could judge.
    const { outputSchema } = entry
    const reported = { ...then, ...(outputSchema === undefined ? {} : { outputSchema }) }
    const priceVersion = noWorse(reported, entry) ? then.version : entry.priceVersion
    return { ...entry, ...better(reported, entry), priceVersion }
  })
}

// Bills a reported call: a hold, and its settlement immediately after.

const SETTLE_WITHIN = Duration.seconds(30)

/** A reported call before it is billed. */
export interface ReportedCall {
  readonly request: MeterRequest
  readonly render: (metered: Metered) => KeptResult
  readonly entry: CatalogEntry
  readonly invocationId: ReceiptId
  readonly feeBasisPoints: number
  readonly calledAt: DateTime.Utc
  readonly now: DateTime.Utc
  readonly consumerId: ConsumerId
  readonly price: Microcents
  readonly freeTier: boolean
  readonly reservation: Reservation | undefined
}

/** Made once, not per call: Settlement.ts has the reason. */
export const makeBillReport = Effect.gen(function* () {
  const calls = yield* CallStore
  const book = yield* BookGuard
  const receipts = yield* Receipts
  const tally = yield* CallTally
  const directory = yield* ToolDirectory

  return Effect.fnUntraced(function* ({
    request,
    render,
    entry,
    invocationId,
    feeBasisPoints,
    calledAt,
    now,
    consumerId,
    price,
    freeTier,
    reservation
  }: ReportedCall) {
    const { priceVersion, provider, tool } = entry
    const call = { invocationId, consumerId, providerId: provider.id, toolId: tool.id, toolName: tool.toolName }
    const levels = request.caller.role === "consumer" ? request.caller.levels : []
    const opened = yield* calls.open({
      ...call,
      priceVersion,
      holdAmount: price,
      feeBasisPoints,
      freeTierCalls: freeTier && price > zero ? entry.freeTierCalls : 0,
      origin: "meter",
      // A limit counts when the call is reported: else one report for each hour of the past would spend them all at once.
      openedAt: levels.length === 0 ? calledAt : now,
      deadlineAt: DateTime.addDuration(now, SETTLE_WITHIN),
      idempotency: request.idempotency,
      levels: levels.map(({ id }) => id)
    })
    if (opened._tag !== "Opened") return yield* rejectionOf(opened, price, levels)
    // Fails if the ledger is in another mode. The hold is then left to the sweeper, which voids it.
    if (opened.held > zero && !book.isConfirmed()) yield* book.confirm
    if (reservation !== undefined) yield* inTime(reservation)
    const cost = opened.free ? zero : price
    // If it cannot be signed, the hold is left to the sweeper, which voids it.
    const receipt = yield* receipts.issue(
      {
        ...call,
        calledAt,
        durationMs: request.durationMs,
        cost,
        status: request.status
      },
      yield* DateTime.now
    )
    if (request.status === "success") yield* directory.pinning(request.tool, entry) ?? Effect.void
    const metered = { entry, receipt, availableMicrocents: opened.availableMicrocents + opened.held - cost }
    const answer = render(metered)
    const closed = yield* calls.close({
      consumerId,
      receipt,
      feeBasisPoints,
      held: opened.held,
      priceVersion,
      origin: "meter",
      tokensInput: request.tokensInput,
      tokensOutput: request.tokensOutput,
      requestId: request.requestId,
      answer: request.idempotency === undefined ? undefined : answer
    })
    if (closed._tag === "AlreadyClosed") return yield* new CallOverdue({ receiptId: invocationId })
    tally.count("meter", request.status)
    return { _tag: "Recorded" as const, metered, answer }
  })
})

/** A call opened this late may have lost its reservation: it is left to the sweeper, which bills nothing. */
const inTime = Effect.fnUntraced(function* ({ invocationId, reservedAt }: Reservation) {
  const until = DateTime.addDuration(reservedAt, OPENED_WITHIN)
  if (DateTime.isGreaterThan(yield* DateTime.now, until)) {
    return yield* Effect.die(new Error(`${invocationId} was opened too long after its reservation`))
  }
})

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
    return `The cost is above the maximum of this tool: ${formatAmount(this.costMicrocents)} was reported and a call costs at most ${formatAmount(this.maxMicrocents)}.`
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
  | CallNotAllowed
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

  const terms = Effect.fnUntraced(function* (request: MeterRequest, entry: CatalogEntry, invocationId: ReceiptId) {
    const { caller } = request
    if (caller.role === "consumer") {
      if (request.consumerId !== undefined && request.consumerId !== caller.ownerId) {
        return yield* new NotYours({ what: "call" })
      }
      // The list price, as for a proxied call whose provider reports no cost. A cost reported by the consumer is
      // ignored, because it could only lower the price; so the call needs no cap either.
      const price = request.status === "success" ? entry.price : zero
      yield* requirePermitted(caller.levels, entry, price)
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
    request.onReceiptId?.(invocationId)
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

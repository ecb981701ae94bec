/**
 * What is counted against a grant for a reported call. The amount is reserved before the call is opened, kept separately
 * until the call has ended, then set to the cost: by the process that reported the call, or by the sweeper when that process
 * died.
 */
import { Context, DateTime, Duration, Effect, Layer, Option, Schema } from "effect"
import type { ConsumerId, ProviderId, ReceiptId, ToolId } from "../shared/Ids.ts"
import { type Microcents, zero } from "../shared/Microcents.ts"
import { round } from "../shared/Round.ts"
import { UnitOfWork } from "../shared/UnitOfWork.ts"
import { CallStore } from "./CallStore.ts"
import { covers, currentStart, type Reservation, spentNow } from "./Grant.ts"
import { GrantStore } from "./GrantStore.ts"
import type { StoreUnavailable } from "../shared/StoreUnavailable.ts"

/** A call opened later than this after its reservation is not billed. */
export const OPENED_WITHIN = Duration.minutes(2)
/** Well after `OPENED_WITHIN`: a call not opened by then is never billed, so its reservation can be released. */
const OVERDUE_AFTER = Duration.minutes(5)
const OVERDUE_BATCH_MAX = 500

/** A provider bills a consumer only within a grant that the consumer gave it. */
export class NoGrant extends Schema.TaggedError<NoGrant>()("NoGrant", {
  consumerId: Schema.String,
  reason: Schema.Literals(["none", "exhausted"])
}) {
  override get message() {
    return this.reason === "none"
      ? `Consumer ${this.consumerId} has given you no grant for this tool.`
      : `The grant of consumer ${this.consumerId} has too little left for this call.`
  }
}

/** A reported call that a grant has to cover before it is billed. */
export interface GrantUse {
  readonly consumerId: ConsumerId
  readonly providerId: ProviderId
  readonly toolId: ToolId
  readonly invocationId: ReceiptId
  readonly amount: Microcents
}

export class Reservations extends Context.Service<
  Reservations,
  {
    /** Counts the amount against the first grant that has enough left. */
    reserve(use: GrantUse): Effect.Effect<Reservation, NoGrant | StoreUnavailable>
    /** The call has ended at this cost: releases the rest. A second time changes nothing. */
    settle(reservation: Reservation, cost: Microcents): Effect.Effect<void, StoreUnavailable>
    /** Settles by the outcome of the call; returns whether it has ended. Only for a call that can no longer be opened. */
    resolve(reservation: Reservation): Effect.Effect<boolean, StoreUnavailable>
    /** Resolves reservations that were not settled; returns how many. */
    readonly sweep: Effect.Effect<number, StoreUnavailable>
  }
>()("agent-tool-billing/domain/metering/Reservations") {
  static readonly layer = Layer.effect(
    Reservations,
    Effect.gen(function* () {
      const grants = yield* GrantStore
      const calls = yield* CallStore
      const { atomically } = yield* UnitOfWork

      const reserve = Effect.fn("Reservations.reserve")(function* (use: GrantUse) {
        const { consumerId, providerId, toolId, invocationId, amount } = use
        const now = yield* DateTime.now
        const covering = (yield* grants.between(consumerId, providerId, now)).filter((grant) => covers(grant, toolId))
        if (covering.length === 0) return yield* new NoGrant({ consumerId, reason: "none" })
        const match = covering.find((grant) => spentNow(grant, now) + amount <= grant.cap)
        if (match === undefined) return yield* new NoGrant({ consumerId, reason: "exhausted" })
        const start = currentStart(match, now)
        const reservation = { consumerId, invocationId, grantId: match.id, amount, periodStart: start, reservedAt: now }
        if (amount > zero) {
          yield* grants.setSpent(match.id, consumerId, spentNow(match, now) + amount, start)
          yield* grants.reserve(reservation)
        }
        return reservation
      }, atomically)

      const settle = Effect.fn("Reservations.settle")(function* (reservation: Reservation, cost: Microcents) {
        const { consumerId, invocationId, grantId, amount } = reservation
        if (amount === zero) return
        const taken = yield* grants.takeReservation(consumerId, invocationId)
        if (Option.isNone(taken) || cost >= amount) return
        const grant = Option.getOrUndefined(yield* grants.find(consumerId, grantId))
        // A reservation does not count in a later period.
        if (grant === undefined || !DateTime.Equivalence(grant.periodStart, reservation.periodStart)) return
        yield* grants.setSpent(grantId, consumerId, grant.spent - (amount - cost), grant.periodStart)
      }, atomically)

      const resolve = Effect.fn("Reservations.resolve")(function* (reservation: Reservation) {
        const outcome = yield* calls.outcome(reservation.consumerId, reservation.invocationId)
        if (outcome._tag === "Open") return false
        yield* settle(reservation, outcome._tag === "Closed" ? outcome.cost : zero)
        return true
      })

      const sweep = Effect.gen(function* () {
        const before = DateTime.subtractDuration(yield* DateTime.now, OVERDUE_AFTER)
        const overdue = yield* grants.reservedBefore(before, OVERDUE_BATCH_MAX)
        const resolved = yield* round(overdue, {
          failing: "Reservations of grants that could not be resolved",
          concurrency: 4,
          work: resolve
        })
        return resolved.filter((ended) => ended).length
      })

      return Reservations.of({ reserve, settle, resolve, sweep })
    })
  )
}

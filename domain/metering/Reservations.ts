/**
 * What is counted against a grant for a call that is being reported. Reserved before the call is opened, kept apart until
 * the call has ended, then set to what it cost: by whoever reported it, or by the sweeper when that process is gone.
 */
import { Context, DateTime, Duration, Effect, Layer, Option, Schema } from "effect"
import type { ConsumerId, ProviderId, ReceiptId, ToolId } from "../shared/Ids.ts"
import { type Microcents, zero } from "../shared/Microcents.ts"
import { UnitOfWork } from "../shared/UnitOfWork.ts"
import { CallStore } from "./CallStore.ts"
import { covers, currentStart, type Reservation, spentNow } from "./Grant.ts"
import { GrantStore } from "./GrantStore.ts"

/** A call that is opened later than that after its reservation is not billed. */
export const OPENED_WITHIN = Duration.minutes(2)
/** Well after: what is not opened by then is never billed, so what was reserved for it can be given back. */
const OVERDUE_AFTER = Duration.minutes(5)
const OVERDUE_BATCH_MAX = 500

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
    /** Counts the amount against the first grant that has room for it. */
    reserve(use: GrantUse): Effect.Effect<Reservation, NoGrant>
    /** The call has ended at this cost: the rest is given back. Again: nothing. */
    settle(reservation: Reservation, cost: Microcents): Effect.Effect<void>
    /** Settles by what became of the call; says whether it had an end. Only for a call that nobody opens any more. */
    resolve(reservation: Reservation): Effect.Effect<boolean>
    /** Resolves what nobody settled; says how many. */
    readonly sweep: Effect.Effect<number>
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
        const roomy = covering.find((grant) => spentNow(grant, now) + amount <= grant.cap)
        if (roomy === undefined) return yield* new NoGrant({ consumerId, reason: "exhausted" })
        const start = currentStart(roomy, now)
        const reservation = { consumerId, invocationId, grantId: roomy.id, amount, periodStart: start, reservedAt: now }
        if (amount > zero) {
          yield* grants.setSpent(roomy.id, consumerId, spentNow(roomy, now) + amount, start)
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
        // Where another period has begun since, what was reserved counts no more.
        if (grant === undefined || !DateTime.Equivalence(grant.periodStart, reservation.periodStart)) return
        yield* grants.setSpent(grantId, consumerId, grant.spent - (amount - cost), grant.periodStart)
      }, atomically)

      const resolve = Effect.fn("Reservations.resolve")(function* (reservation: Reservation) {
        const fate = yield* calls.fate(reservation.consumerId, reservation.invocationId)
        if (fate._tag === "Open") return false
        yield* settle(reservation, fate._tag === "Closed" ? fate.cost : zero)
        return true
      })

      const sweep = Effect.gen(function* () {
        const before = DateTime.subtractDuration(yield* DateTime.now, OVERDUE_AFTER)
        const overdue = yield* grants.reservedBefore(before, OVERDUE_BATCH_MAX)
        const resolved = yield* Effect.forEach(overdue, resolve, { concurrency: 4 })
        return resolved.filter((ended) => ended).length
      })

      return Reservations.of({ reserve, settle, resolve, sweep })
    })
  )
}

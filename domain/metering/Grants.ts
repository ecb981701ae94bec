/**
 * A consumer's permission for a provider to bill calls that did not pass through the proxy: for which tools, up to which
 * cap, until when. Without a grant a provider meters only its own test calls.
 */
import { Context, DateTime, Duration, Effect, Layer, Option, Schema } from "effect"
import { AccountStore } from "../accounts/Account.ts"
import { ExpiryInThePast } from "../accounts/Keys.ts"
import { Entropy } from "../shared/Cryptography.ts"
import { type ConsumerId, GrantId, type ProviderId, type ReceiptId, type ToolId } from "../shared/Ids.ts"
import { type Microcents, zero } from "../shared/Microcents.ts"
import { round } from "../shared/Round.ts"
import { type StoreUnavailable, UnitOfWork } from "../shared/StoreUnavailable.ts"
import { format } from "../shared/Time.ts"
import { CallStore } from "./CallStore.ts"

/** When the spent part of a grant starts at zero again. `total` never does. */
export const GrantPeriod = Schema.Literals(["day", "month", "total"])
export type GrantPeriod = typeof GrantPeriod.Type

/**
 * A consumer's permission for a provider to bill calls that did not pass through the proxy, and the reservations in it.
 */
export interface Grant {
  readonly id: GrantId
  readonly consumerId: ConsumerId
  readonly providerId: ProviderId
  /** Empty: all of the provider's tools. */
  readonly toolIds: ReadonlyArray<ToolId>
  readonly cap: Microcents
  readonly period: GrantPeriod
  readonly expiresAt: DateTime.Utc | undefined
  readonly revokedAt: DateTime.Utc | undefined
  readonly createdAt: DateTime.Utc
  /** In the period that starts at `periodStart`. */
  readonly spent: bigint
  readonly periodStart: DateTime.Utc
}

/** Counted as spent while the final cost of the call is unknown. */
export interface Reservation {
  readonly consumerId: ConsumerId
  readonly invocationId: ReceiptId
  readonly grantId: GrantId
  readonly amount: Microcents
  /** The start of the period that the amount counts in. */
  readonly periodStart: DateTime.Utc
  readonly reservedAt: DateTime.Utc
}

/** Revoked and expired grants are unlimited in number: the newest of them are shown. */
export const DEAD_GRANTS_SHOWN_MAX = 200

export const isActive = (grant: Grant, now: DateTime.Utc): boolean =>
  grant.revokedAt === undefined && (grant.expiresAt === undefined || DateTime.isGreaterThan(grant.expiresAt, now))

export const covers = (grant: Grant, toolId: ToolId): boolean =>
  grant.toolIds.length === 0 || grant.toolIds.includes(toolId)

export const periodStart = (period: GrantPeriod, now: DateTime.Utc): DateTime.Utc =>
  period === "total" ? DateTime.makeUnsafe(0) : DateTime.startOf(now, period)

/** The current period. Never an earlier one than recorded: the clock of another node may be behind. */
export const currentStart = (grant: Grant, now: DateTime.Utc): DateTime.Utc =>
  DateTime.max(grant.periodStart, periodStart(grant.period, now))

/** Spending of an earlier period does not count against the cap. */
export const spentNow = (grant: Grant, now: DateTime.Utc): bigint =>
  DateTime.isLessThan(grant.periodStart, currentStart(grant, now)) ? 0n : grant.spent

/** Stores grants and the reservations in them. Every operation except `reservedBefore` runs inside a unit of work. */
export class GrantStore extends Context.Service<
  GrantStore,
  {
    insert(grant: Grant): Effect.Effect<void, StoreUnavailable>
    /**
     * Newest first: the active ones, and the newest of the others. All grants of the consumer stay locked until the unit of
     * work ends.
     */
    ofConsumer(consumerId: ConsumerId, now: DateTime.Utc): Effect.Effect<ReadonlyArray<Grant>, StoreUnavailable>
    /** The active grants between the two, oldest first; locked as in `ofConsumer`. */
    between(
      consumerId: ConsumerId,
      providerId: ProviderId,
      now: DateTime.Utc
    ): Effect.Effect<ReadonlyArray<Grant>, StoreUnavailable>
    /** A grant of the consumer, active or not; locked as in `ofConsumer`. */
    find(consumerId: ConsumerId, id: GrantId): Effect.Effect<Option.Option<Grant>, StoreUnavailable>
    revoke(consumerId: ConsumerId, id: GrantId, at: DateTime.Utc): Effect.Effect<Option.Option<Grant>, StoreUnavailable>
    setSpent(
      id: GrantId,
      consumerId: ConsumerId,
      spent: bigint,
      periodStart: DateTime.Utc
    ): Effect.Effect<void, StoreUnavailable>
    /** At most one per call. */
    reserve(reservation: Reservation): Effect.Effect<void, StoreUnavailable>
    /** Removes and returns the reservation; none where it was removed before. */
    takeReservation(
      consumerId: ConsumerId,
      invocationId: ReceiptId
    ): Effect.Effect<Option.Option<Reservation>, StoreUnavailable>
    /** At most `limit` reservations made before this time, oldest first. */
    reservedBefore(before: DateTime.Utc, limit: number): Effect.Effect<ReadonlyArray<Reservation>, StoreUnavailable>
  }
>()("agent-tool-billing/domain/metering/GrantStore") {}

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
      ? `Consumer ${this.consumerId} has no active grant to you for this tool.`
      : `The grant of consumer ${this.consumerId} does not cover this call. Bill less, or ask the consumer for a larger grant.`
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

/**
 * What is counted against a grant for a reported call. The amount is reserved before the call is opened, kept separately
 * until the call has ended, then set to the cost: by the process that reported the call, or by the sweeper when that
 * process died.
 */
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

export const GRANTS_PER_CONSUMER_MAX = 100
/** At most the number of inactive grants that are listed: the daily limit counts listed grants. */
export const GRANTS_PER_DAY_MAX = DEAD_GRANTS_SHOWN_MAX
export const GRANT_TOOLS_MAX = 50

/** A consumer's permission for a provider to bill calls that the provider reports, up to a cap. */
export type GrantRequest = Pick<Grant, "providerId" | "toolIds" | "cap" | "period" | "expiresAt">

/** The consumer has given no such grant, or it was revoked or has expired. */
export class GrantNotFound extends Schema.TaggedError<GrantNotFound>()("GrantNotFound", { grantId: Schema.String }) {
  override get message() {
    return `You have no active grant ${this.grantId}.`
  }
}

/** A consumer has the maximum of active grants, or gave the maximum of one day. */
export class TooManyGrants extends Schema.TaggedError<TooManyGrants>()("TooManyGrants", {
  max: Schema.Int,
  of: Schema.Literals(["active", "a day"])
}) {
  override get message() {
    return this.of === "active"
      ? `A consumer has at most ${this.max} active grants. Revoke one first.`
      : `A consumer gives at most ${this.max} grants in 24 hours.`
  }
}

/** A grant needs a provider that exists. */
export class UnknownProvider extends Schema.TaggedError<UnknownProvider>()("UnknownProvider", {
  providerId: Schema.String
}) {
  override get message() {
    return `There is no provider ${this.providerId}.`
  }
}

export class Grants extends Context.Service<
  Grants,
  {
    create(
      consumerId: ConsumerId,
      request: GrantRequest
    ): Effect.Effect<Grant, ExpiryInThePast | TooManyGrants | UnknownProvider | StoreUnavailable>
    list(consumerId: ConsumerId): Effect.Effect<ReadonlyArray<Grant>, StoreUnavailable>
    revoke(consumerId: ConsumerId, id: GrantId): Effect.Effect<Grant, GrantNotFound | StoreUnavailable>
  }
>()("agent-tool-billing/domain/metering/Grants") {
  static readonly layer = Layer.effect(
    Grants,
    Effect.gen(function* () {
      const store = yield* GrantStore
      const accounts = yield* AccountStore
      const entropy = yield* Entropy
      const { atomically } = yield* UnitOfWork

      const requireRoom = Effect.fnUntraced(function* (consumerId: ConsumerId, now: DateTime.Utc) {
        const given = yield* store.ofConsumer(consumerId, now)
        const active = given.filter((grant) => isActive(grant, now))
        if (active.length >= GRANTS_PER_CONSUMER_MAX) {
          return yield* new TooManyGrants({ max: GRANTS_PER_CONSUMER_MAX, of: "active" })
        }
        const dayAgo = DateTime.subtract(now, { days: 1 })
        const ofOneDay = given.filter((grant) => DateTime.isGreaterThan(grant.createdAt, dayAgo)).length
        if (ofOneDay >= GRANTS_PER_DAY_MAX) return yield* new TooManyGrants({ max: GRANTS_PER_DAY_MAX, of: "a day" })
      })

      const create = Effect.fn("Grants.create")(function* (consumerId: ConsumerId, request: GrantRequest) {
        const provider = yield* accounts.findProvider(request.providerId)
        if (Option.isNone(provider)) return yield* new UnknownProvider({ providerId: request.providerId })
        const now = yield* DateTime.now
        if (request.expiresAt !== undefined && DateTime.isLessThanOrEqualTo(request.expiresAt, now)) {
          return yield* new ExpiryInThePast({ expiresAt: format(request.expiresAt) })
        }
        yield* requireRoom(consumerId, now)
        const grant: Grant = {
          id: GrantId.make(yield* entropy.uuid),
          consumerId,
          ...request,
          revokedAt: undefined,
          createdAt: now,
          spent: 0n,
          periodStart: periodStart(request.period, now)
        }
        yield* store.insert(grant)
        return grant
      }, atomically)

      const revoke = Effect.fn("Grants.revoke")(function* (consumerId: ConsumerId, id: GrantId) {
        const revoked = yield* store.revoke(consumerId, id, yield* DateTime.now)
        if (Option.isNone(revoked)) return yield* new GrantNotFound({ grantId: id })
        return revoked.value
      }, atomically)

      const list = Effect.fn("Grants.list")((consumerId: ConsumerId) =>
        Effect.flatMap(DateTime.now, (now) => store.ofConsumer(consumerId, now))
      )

      return Grants.of({ create, list, revoke })
    })
  )
}

/**
 * A consumer's leave for a provider to bill it for calls that did not pass through the proxy: for which tools, up to
 * what, until when. Without one a provider meters nothing but its own test calls.
 */
import { Context, DateTime, Effect, Layer, Option, Schema } from "effect"
import { AccountStore } from "../accounts/AccountStore.ts"
import { ExpiryInThePast } from "../accounts/Keys.ts"
import { Entropy } from "../shared/Entropy.ts"
import { type ConsumerId, GrantId, type ProviderId, type ToolId } from "../shared/Ids.ts"
import type { Microcents } from "../shared/Microcents.ts"
import { format } from "../shared/Timestamp.ts"
import { UnitOfWork } from "../shared/UnitOfWork.ts"

export type GrantPeriod = "day" | "month" | "total"

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
  /** In the period that `periodStart` began. */
  readonly spent: bigint
  readonly periodStart: DateTime.Utc
}

export const GRANTS_PER_CONSUMER_MAX = 100
export const GRANT_TOOLS_MAX = 50

export interface GrantRequest {
  readonly providerId: ProviderId
  readonly toolIds: ReadonlyArray<ToolId>
  readonly cap: Microcents
  readonly period: GrantPeriod
  readonly expiresAt: DateTime.Utc | undefined
}

export class GrantStore extends Context.Service<
  GrantStore,
  {
    insert(grant: Grant): Effect.Effect<void>
    /** Newest first, revoked and expired ones too. */
    ofConsumer(consumerId: ConsumerId): Effect.Effect<ReadonlyArray<Grant>>
    /** The live grants between the two, locked until the unit of work ends; oldest first. */
    between(consumerId: ConsumerId, providerId: ProviderId, now: DateTime.Utc): Effect.Effect<ReadonlyArray<Grant>>
    revoke(consumerId: ConsumerId, id: GrantId, at: DateTime.Utc): Effect.Effect<Option.Option<Grant>>
    setSpent(id: GrantId, consumerId: ConsumerId, spent: bigint, periodStart: DateTime.Utc): Effect.Effect<void>
  }
>()("agent-tool-billing/domain/metering/GrantStore") {}

export class NoGrant extends Schema.TaggedError<NoGrant>()("NoGrant", {
  consumerId: Schema.String,
  reason: Schema.Literals(["none", "exhausted"])
}) {
  override get message() {
    return this.reason === "none"
      ? `Consumer ${this.consumerId} has given you no grant for this tool. It can, with POST /api/v1/market/grants.`
      : `The grant of consumer ${this.consumerId} has too little left for this call.`
  }
}

export class GrantNotFound extends Schema.TaggedError<GrantNotFound>()("GrantNotFound", { grantId: Schema.String }) {
  override get message() {
    return `You have given no live grant ${this.grantId}. GET /api/v1/market/grants lists yours.`
  }
}

export class TooManyGrants extends Schema.TaggedError<TooManyGrants>()("TooManyGrants", { max: Schema.Int }) {
  override get message() {
    return `A consumer has at most ${this.max} live grants. Take one back first.`
  }
}

export class UnknownProvider extends Schema.TaggedError<UnknownProvider>()("UnknownProvider", {
  providerId: Schema.String
}) {
  override get message() {
    return `There is no provider ${this.providerId}.`
  }
}

export interface Reservation {
  readonly grantId: GrantId
  readonly amount: Microcents
  /** Of the period that it counts in. */
  readonly periodStart: DateTime.Utc
}

export class Grants extends Context.Service<
  Grants,
  {
    give(
      consumerId: ConsumerId,
      request: GrantRequest
    ): Effect.Effect<Grant, ExpiryInThePast | TooManyGrants | UnknownProvider>
    list(consumerId: ConsumerId): Effect.Effect<ReadonlyArray<Grant>>
    takeBack(consumerId: ConsumerId, id: GrantId): Effect.Effect<Grant, GrantNotFound>
    /** Counts the amount against the first grant that has room for it. */
    reserve(use: {
      readonly consumerId: ConsumerId
      readonly providerId: ProviderId
      readonly toolId: ToolId
      readonly amount: Microcents
    }): Effect.Effect<Reservation, NoGrant>
    /** Gives back what a call did not cost after all. */
    release(consumerId: ConsumerId, providerId: ProviderId, reservation: Reservation): Effect.Effect<void>
  }
>()("agent-tool-billing/domain/metering/Grants") {
  static readonly layer = Layer.effect(
    Grants,
    Effect.gen(function* () {
      const store = yield* GrantStore
      const accounts = yield* AccountStore
      const entropy = yield* Entropy
      const { atomically } = yield* UnitOfWork

      const give = Effect.fn("Grants.give")(function* (consumerId: ConsumerId, request: GrantRequest) {
        const provider = yield* accounts.findProvider(request.providerId)
        if (Option.isNone(provider)) return yield* new UnknownProvider({ providerId: request.providerId })
        const now = yield* DateTime.now
        if (request.expiresAt !== undefined && DateTime.isLessThanOrEqualTo(request.expiresAt, now)) {
          return yield* new ExpiryInThePast({ expiresAt: format(request.expiresAt) })
        }
        const live = (yield* store.ofConsumer(consumerId)).filter((grant) => isLive(grant, now))
        if (live.length >= GRANTS_PER_CONSUMER_MAX) return yield* new TooManyGrants({ max: GRANTS_PER_CONSUMER_MAX })
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

      const takeBack = Effect.fn("Grants.takeBack")(function* (consumerId: ConsumerId, id: GrantId) {
        const revoked = yield* store.revoke(consumerId, id, yield* DateTime.now)
        if (Option.isNone(revoked)) return yield* new GrantNotFound({ grantId: id })
        return revoked.value
      }, atomically)

      const reserve = Effect.fn("Grants.reserve")(function* ({
        consumerId,
        providerId,
        toolId,
        amount
      }: {
        readonly consumerId: ConsumerId
        readonly providerId: ProviderId
        readonly toolId: ToolId
        readonly amount: Microcents
      }) {
        const now = yield* DateTime.now
        const grants = (yield* store.between(consumerId, providerId, now)).filter((grant) => covers(grant, toolId))
        if (grants.length === 0) return yield* new NoGrant({ consumerId, reason: "none" })
        const roomy = grants.find((grant) => spentNow(grant, now) + amount <= grant.cap)
        if (roomy === undefined) return yield* new NoGrant({ consumerId, reason: "exhausted" })
        const start = periodStart(roomy.period, now)
        yield* store.setSpent(roomy.id, consumerId, spentNow(roomy, now) + amount, start)
        return { grantId: roomy.id, amount, periodStart: start }
      }, atomically)

      const release = Effect.fn("Grants.release")(function* (
        consumerId: ConsumerId,
        providerId: ProviderId,
        { grantId, amount, periodStart: start }: Reservation
      ) {
        const now = yield* DateTime.now
        const grant = (yield* store.between(consumerId, providerId, now)).find((one) => one.id === grantId)
        // Where another period has begun since, what was reserved counts no more.
        if (grant === undefined || !DateTime.Equivalence(grant.periodStart, start) || grant.spent < amount) return
        yield* store.setSpent(grantId, consumerId, grant.spent - amount, start)
      }, atomically)

      const list = Effect.fn("Grants.list")((consumerId: ConsumerId) => store.ofConsumer(consumerId))

      return Grants.of({ give, list, takeBack, reserve, release })
    })
  )
}

export const isLive = (grant: Grant, now: DateTime.Utc): boolean =>
  grant.revokedAt === undefined && (grant.expiresAt === undefined || DateTime.isGreaterThan(grant.expiresAt, now))

const covers = (grant: Grant, toolId: ToolId): boolean => grant.toolIds.length === 0 || grant.toolIds.includes(toolId)

export const periodStart = (period: GrantPeriod, now: DateTime.Utc): DateTime.Utc =>
  period === "total" ? DateTime.makeUnsafe(0) : DateTime.startOf(now, period)

/** What counts against the cap now: a period that has ended counts nothing. */
export const spentNow = (grant: Grant, now: DateTime.Utc): bigint =>
  DateTime.isLessThan(grant.periodStart, periodStart(grant.period, now)) ? 0n : grant.spent

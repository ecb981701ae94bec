/**
 * A consumer's permission for a provider to bill calls that did not pass through the proxy: for which tools, up to which
 * cap, until when. Without a grant a provider meters only its own test calls.
 */
import { Context, DateTime, Effect, Layer, Option, Schema } from "effect"
import { AccountStore } from "../accounts/AccountStore.ts"
import { ExpiryInThePast } from "../accounts/Keys.ts"
import { Entropy } from "../shared/Entropy.ts"
import { type ConsumerId, GrantId, type ProviderId, type ToolId } from "../shared/Ids.ts"
import type { Microcents } from "../shared/Microcents.ts"
import { format } from "../shared/Timestamp.ts"
import { UnitOfWork } from "../shared/UnitOfWork.ts"
import { DEAD_GRANTS_SHOWN_MAX, type Grant, type GrantPeriod, isLive, periodStart } from "./Grant.ts"
import { GrantStore } from "./GrantStore.ts"
import type { StoreUnavailable } from "../shared/StoreUnavailable.ts"

export const GRANTS_PER_CONSUMER_MAX = 100
/** At most the number of inactive grants that are listed: the daily limit counts listed grants. */
export const GRANTS_PER_DAY_MAX = DEAD_GRANTS_SHOWN_MAX
export const GRANT_TOOLS_MAX = 50

/** A consumer's permission for a provider to bill calls that the provider reports, up to a cap. */
export interface GrantRequest {
  readonly providerId: ProviderId
  readonly toolIds: ReadonlyArray<ToolId>
  readonly cap: Microcents
  readonly period: GrantPeriod
  readonly expiresAt: DateTime.Utc | undefined
}

/** The consumer has given no such grant, or it was revoked or has expired. */
export class GrantNotFound extends Schema.TaggedError<GrantNotFound>()("GrantNotFound", { grantId: Schema.String }) {
  override get message() {
    return `You have given no live grant ${this.grantId}.`
  }
}

/** A consumer has the maximum of live grants, or gave the maximum of one day. */
export class TooManyGrants extends Schema.TaggedError<TooManyGrants>()("TooManyGrants", {
  max: Schema.Int,
  of: Schema.Literals(["live", "a day"])
}) {
  override get message() {
    return this.of === "live"
      ? `A consumer has at most ${this.max} live grants. Revoke one first.`
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
        const known = yield* store.ofConsumer(consumerId, now)
        const live = known.filter((grant) => isLive(grant, now))
        if (live.length >= GRANTS_PER_CONSUMER_MAX) {
          return yield* new TooManyGrants({ max: GRANTS_PER_CONSUMER_MAX, of: "live" })
        }
        const dayAgo = DateTime.subtract(now, { days: 1 })
        const given = known.filter((grant) => DateTime.isGreaterThan(grant.createdAt, dayAgo)).length
        if (given >= GRANTS_PER_DAY_MAX) return yield* new TooManyGrants({ max: GRANTS_PER_DAY_MAX, of: "a day" })
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

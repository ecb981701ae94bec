/**
 * The authenticated caller: the role and the owner of a key.
 */
import { Context, type DateTime, type Effect, type Option, Schema } from "effect"
import { type ConsumerId, type KeyId, type ProviderId, Uuid } from "../shared/Ids.ts"
import type { Microcents } from "../shared/Microcents.ts"
import type { StoreUnavailable } from "../shared/StoreUnavailable.ts"

/** Identifies a session without revealing its token. It is a UUID, ordered by time. */
export const OperatorSessionId = Uuid.pipe(Schema.brand("OperatorSessionId"))
export type OperatorSessionId = typeof OperatorSessionId.Type

/** Who signed in, and until when. */
export interface OperatorSession {
  readonly id: OperatorSessionId
  /** The name that was given at the sign-in. */
  readonly name: string
  readonly createdAt: DateTime.Utc
  readonly expiresAt: DateTime.Utc
  readonly lastUsedAt: DateTime.Utc
}

/** Sessions that were not used since `idleSince`, or have expired at `now`, do not count. */
export interface SessionTimes {
  readonly now: DateTime.Utc
  readonly idleSince: DateTime.Utc
}

/** Port to the operator's sessions, by a hash of their token and of the operator's key. */
export class OperatorSessionStore extends Context.Service<
  OperatorSessionStore,
  {
    /** Removes the oldest ones beyond `liveMax`. */
    insert(session: OperatorSession, hash: string, liveMax: number): Effect.Effect<void, StoreUnavailable>
    /** The session with this hash, now used at `now`. */
    use(hash: string, times: SessionTimes): Effect.Effect<Option.Option<OperatorSession>, StoreUnavailable>
    /** False if there is none. */
    end(id: OperatorSessionId): Effect.Effect<boolean, StoreUnavailable>
    /** Returns how many there were. */
    readonly endAll: Effect.Effect<number, StoreUnavailable>
    /** Removes expired and unused ones; returns their number. */
    prune(times: SessionTimes, limit: number): Effect.Effect<number, StoreUnavailable>
  }
>()("agent-tool-billing/domain/accounts/OperatorSessionStore") {}

export type Role = "consumer" | "provider" | "operator"

export type Principal =
  | {
      readonly role: "consumer"
      readonly ownerId: ConsumerId
      readonly name: string
      readonly keyId: KeyId
      readonly rateLimitRpm: number
      /** Of the key, otherwise of the account. */
      readonly defaultCap?: Microcents | undefined
      readonly accountDefaultCap?: Microcents | undefined
      readonly expiresAt: DateTime.Utc | undefined
    }
  | {
      readonly role: "provider"
      readonly ownerId: ProviderId
      readonly name: string
      readonly keyId: KeyId
      readonly rateLimitRpm: number
      readonly expiresAt: DateTime.Utc | undefined
    }
  | {
      readonly role: "operator"
      readonly ownerId: "operator"
      readonly name: "operator"
      readonly keyId: "operator"
      readonly rateLimitRpm: number
      readonly expiresAt: undefined
      /** Undefined where the request has the key itself. */
      readonly session?: OperatorSession | undefined
    }

/** Who acted, for records of what the operator does. */
export const actorOf = ({ session }: Extract<Principal, { readonly role: "operator" }>): string =>
  session?.name ?? "API key"

/** An account that has keys. */
export type KeyOwner = Exclude<Principal, { readonly role: "operator" }>

/** Limits in requests a minute, by the kind of account. */
export interface RateLimits {
  /** Of a consumer that requested no limit. */
  readonly defaultRpm: number
  /** The highest limit of a consumer. */
  readonly ceilingRpm: number
  /** Of a provider, who reads dashboards and registers tools. */
  readonly providerRpm: number
}

/**
 * How many requests a minute an account may send. Default: 60 of a consumer, of which it may ask for up to 6,000, and
 * 600 of a provider.
 */
export const RateLimitPolicy = Context.Reference<RateLimits>("agent-tool-billing/domain/accounts/RateLimitPolicy", {
  defaultValue: () => ({ defaultRpm: 60, ceilingRpm: 6_000, providerRpm: 600 })
})

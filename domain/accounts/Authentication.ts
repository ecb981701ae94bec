/**
 * Resolves an API key to a principal. A bounded cache is in front of the store; the change feed removes a revoked key
 * on every node within a second, and entries have a short time to live.
 */
import { Clock, Context, type DateTime, Effect, Layer, Option, Redacted, Schema } from "effect"
import { ChangeFeed, onEachChange } from "../shared/ChangeFeed.ts"
import { Digest, isSameText } from "../shared/Cryptography.ts"
import { makeFreshCache } from "../shared/FreshCache.ts"
import { type ConsumerId, KeyId, type ProviderId, Uuid } from "../shared/Ids.ts"
import type { Microcents } from "../shared/Microcents.ts"
import type { StoreUnavailable } from "../shared/StoreUnavailable.ts"
import { isRunKey, isWellFormed, KeyStore, type KeyWithOwner } from "./Keys.ts"
import { type Level, LevelStore, liveUntilMs, type RunWithOwner } from "./Levels.ts"

/** Identifies a session without revealing its token. It is a UUID, ordered by time. */
export const OperatorSessionId = Uuid.pipe(Schema.brand("OperatorSessionId"))
export type OperatorSessionId = typeof OperatorSessionId.Type

/** The operator who signed in, and the end of the session. */
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

/** The authenticated caller: the role and the owner of a key. */
export type Principal =
  | {
      readonly role: "consumer"
      readonly ownerId: ConsumerId
      readonly name: string
      /** Of a run: its id. */
      readonly keyId: KeyId
      readonly rateLimitRpm: number
      /** Those that bound the key or run, from the top. Empty: the key may do everything that the account may. */
      readonly levels: ReadonlyArray<Level>
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

export const actorOf = ({ session }: Extract<Principal, { readonly role: "operator" }>): string =>
  session?.name ?? "API key"

/** An account that has keys. */
export type KeyOwner = Exclude<Principal, { readonly role: "operator" }>

/** Limits in requests a minute, by the kind of account. */
export interface RateLimits {
  /** The limit of a consumer that requested none. */
  readonly defaultRpm: number
  /** The highest limit of a consumer. */
  readonly ceilingRpm: number
  /** The limit of a provider, who reads dashboards and registers tools. */
  readonly providerRpm: number
}

/**
 * The number of requests that an account may send in a minute. Default: 60 of a consumer, of which it may ask for up to
 * 6,000, and 600 of a provider.
 */
export const RateLimitPolicy = Context.Reference<RateLimits>("agent-tool-billing/domain/accounts/RateLimitPolicy", {
  defaultValue: () => ({ defaultRpm: 60, ceilingRpm: 6_000, providerRpm: 600 })
})

export const KEY_CACHE_ENTRIES_MAX = 50_000
export const KEY_CACHE_TTL_MS = 30_000

/** The request has no key that is valid now. `reason` distinguishes a missing key from a wrong or an expired one. */
export class Unauthorized extends Schema.TaggedError<Unauthorized>()("Unauthorized", {
  reason: Schema.Literals(["missing", "malformed", "unknown", "expired", "revoked"])
}) {
  override get message() {
    return messages[this.reason]
  }
}

const messages = {
  missing: "An API key is required, and none was sent.",
  malformed: "This is not a valid API key: its checksum does not match. Check that you copied all of it.",
  unknown: "This API key is unknown.",
  expired: "This API key has expired. Create another one with an active key.",
  revoked: "This API key was revoked."
}

/** The operator's key is a setting; no endpoint creates it. Default: none, and no operator. */
export const OperatorKey = Context.Reference<Redacted.Redacted | undefined>(
  "agent-tool-billing/domain/accounts/OperatorKey",
  { defaultValue: () => undefined }
)

export const operatorPrincipal = (session?: OperatorSession): Principal => ({
  role: "operator",
  ownerId: "operator",
  name: "operator",
  keyId: "operator",
  rateLimitRpm: 0,
  expiresAt: undefined,
  session
})

const operator = operatorPrincipal()

interface Cached {
  readonly principal: Principal
  /** From then on the key is rejected: it expires, or was rotated. */
  readonly rejectedFromMs: number
  readonly rejection: "expired" | "revoked"
}

export class Authentication extends Context.Service<
  Authentication,
  {
    authenticate(secret: string): Effect.Effect<Principal, Unauthorized | StoreUnavailable>
  }
>()("agent-tool-billing/domain/accounts/Authentication") {
  static readonly layer = Layer.effect(
    Authentication,
    Effect.gen(function* () {
      const store = yield* KeyStore
      const levelStore = yield* LevelStore
      const feed = yield* ChangeFeed
      const { sha256Hex } = yield* Digest
      const limits = yield* RateLimitPolicy
      const configured = yield* OperatorKey
      const clock = yield* Clock.Clock
      const operatorHash = configured === undefined ? undefined : sha256Hex(Redacted.value(configured))
      const cache = yield* makeFreshCache<Cached>({ entriesMax: KEY_CACHE_ENTRIES_MAX, ttlMs: KEY_CACHE_TTL_MS })

      yield* onEachChange(feed, (change) => {
        if (change.topic === "key") cache.forget(change.id)
        else if (change.topic === "level") cache.forgetWhere(({ principal }) => isBelow(principal, change.id))
        else if (change.topic === "everything" || change.topic === "account") cache.forgetAll()
      })

      const load = Effect.fnUntraced(function* (secret: string, hash: string) {
        if (!isWellFormed(secret, sha256Hex)) return yield* new Unauthorized({ reason: "malformed" })
        if (isRunKey(secret)) {
          const run = Option.getOrUndefined(yield* levelStore.findRun(hash))
          if (run === undefined) return yield* new Unauthorized({ reason: "unknown" })
          return runCached(run, yield* levelStore.pathOf(run.run.id))
        }
        const found = Option.getOrUndefined(yield* store.findByHash(hash))
        if (found === undefined) return yield* new Unauthorized({ reason: "unknown" })
        const { levelId } = found.key
        const levels = levelId === undefined ? [] : yield* levelStore.pathOf(levelId)
        // Without its bounds it would be the account's key.
        if (levelId !== undefined && levels.length === 0) return yield* new Unauthorized({ reason: "unknown" })
        return toCached(found, levels, limits)
      })

      const accept = (cached: Cached): Effect.Effect<Principal, Unauthorized> =>
        cached.rejectedFromMs > clock.currentTimeMillisUnsafe()
          ? Effect.succeed(cached.principal)
          : Effect.fail(new Unauthorized({ reason: cached.rejection }))

      const authenticate = (secret: string): Effect.Effect<Principal, Unauthorized | StoreUnavailable> =>
        Effect.suspend(() => {
          if (secret === "") return Effect.fail(new Unauthorized({ reason: "missing" }))
          const hash = sha256Hex(secret)
          if (operatorHash !== undefined && isSameText(hash, operatorHash)) return Effect.succeed(operator)
          return Effect.flatMapEager(cache.readThrough(hash, load(secret, hash)), accept)
        })

      return Authentication.of({ authenticate })
    })
  )
}

const isBelow = (principal: Principal, levelId: string): boolean =>
  principal.role === "consumer" && principal.levels.some((level) => level.id === levelId)

const toCached = (
  { defaultCap, key, ownerName, rateLimitRpm }: KeyWithOwner,
  levels: ReadonlyArray<Level>,
  limits: RateLimits
): Cached => {
  const revokedAtMs = Math.min(key.revokedAt?.epochMilliseconds ?? Infinity, liveUntilMs(levels))
  const expiresAtMs = key.expiresAt?.epochMilliseconds ?? Infinity
  const shared = { name: ownerName, keyId: key.id, expiresAt: key.expiresAt }
  return {
    rejectedFromMs: Math.min(revokedAtMs, expiresAtMs),
    rejection: revokedAtMs <= expiresAtMs ? "revoked" : "expired",
    principal:
      key.role === "consumer"
        ? {
            ...shared,
            role: "consumer",
            ownerId: key.ownerId as ConsumerId,
            rateLimitRpm: rateLimitRpm ?? limits.defaultRpm,
            levels,
            defaultCap: key.defaultCap ?? defaultCap,
            accountDefaultCap: defaultCap
          }
        : { ...shared, role: "provider", ownerId: key.ownerId as ProviderId, rateLimitRpm: limits.providerRpm }
  }
}

/** A run is used by its own key, which is rejected from its end on. */
const runCached = (
  { defaultCap, ownerName, rateLimitRpm, run }: RunWithOwner,
  levels: ReadonlyArray<Level>
): Cached => ({
  rejectedFromMs: liveUntilMs(levels),
  rejection: run.endedAt === undefined ? "expired" : "revoked",
  principal: {
    role: "consumer",
    ownerId: run.consumerId,
    name: ownerName,
    keyId: KeyId.make(run.id),
    expiresAt: run.expiresAt,
    rateLimitRpm,
    levels,
    defaultCap,
    accountDefaultCap: defaultCap
  }
})

/**
 * From a key to who is calling. Answers come from a bounded cache in front of the store; a revoked key is forgotten on
 * every node as soon as the change feed says so, and a short time to live stands behind the feed.
 */
import { Clock, Context, Effect, Layer, Option, Redacted, Schema, Stream } from "effect"
import { ChangeFeed } from "../shared/ChangeFeed.ts"
import { Digest } from "../shared/Digest.ts"
import type { ConsumerId, ProviderId } from "../shared/Ids.ts"
import { isWellFormed } from "./ApiKey.ts"
import { KeyStore, type KeyWithOwner } from "./KeyStore.ts"
import type { Principal } from "./Principal.ts"
import { type RateLimits, RateLimitPolicy } from "./RateLimitPolicy.ts"

export const KEY_CACHE_ENTRIES_MAX = 50_000
export const KEY_CACHE_TTL_MS = 30_000

export class Unauthorized extends Schema.TaggedError<Unauthorized>()("Unauthorized", {
  reason: Schema.Literals(["missing", "malformed", "unknown", "expired", "revoked"])
}) {
  override get message() {
    return messages[this.reason]
  }
}

const messages = {
  missing: "This endpoint needs a key: send it as `Authorization: Bearer <key>`.",
  malformed: "This is not a key of ours: its checksum does not fit. Was it copied whole?",
  unknown: "This key is not known here.",
  expired: "This key has expired. Create another one with a key that still works.",
  revoked: "This key has been revoked."
}

/** The operator's key comes from configuration, never from an endpoint. */
export const OperatorKey = Context.Reference<Redacted.Redacted | undefined>(
  "agent-tool-billing/domain/accounts/OperatorKey",
  { defaultValue: () => undefined }
)

const operator: Principal = {
  role: "operator",
  ownerId: "operator",
  name: "operator",
  keyId: "operator",
  rateLimitRpm: 0,
  expiresAt: undefined
}

interface Cached {
  readonly principal: Principal
  readonly loadedAtMs: number
  /** From then on the key is refused: it expires, or was rotated. */
  readonly refusedFromMs: number
  readonly refusal: "expired" | "revoked"
}

export class Authentication extends Context.Service<
  Authentication,
  {
    authenticate(secret: string): Effect.Effect<Principal, Unauthorized>
  }
>()("agent-tool-billing/domain/accounts/Authentication") {
  static readonly layer = Layer.effect(
    Authentication,
    Effect.gen(function* () {
      const store = yield* KeyStore
      const feed = yield* ChangeFeed
      const { sha256Hex } = yield* Digest
      const limits = yield* RateLimitPolicy
      const configured = yield* OperatorKey
      const operatorHash = configured === undefined ? undefined : sha256Hex(Redacted.value(configured))
      const cache = new Map<string, Cached>()
      let generation = 0

      yield* feed.changes.pipe(
        Stream.runForEach((change) =>
          Effect.sync(() => {
            generation++
            if (change.topic === "key") cache.delete(change.id)
            else if (change.topic === "everything" || change.topic === "account") cache.clear()
          })
        ),
        Effect.forkScoped({ startImmediately: true })
      )

      const load = Effect.fnUntraced(function* (hash: string, nowMs: number) {
        const generationBefore = generation
        const found = yield* store.findByHash(hash)
        if (Option.isNone(found)) return yield* new Unauthorized({ reason: "unknown" })
        const loaded = toCached(found.value, nowMs, limits)
        // A change that came while the answer was on its way may be about this very key: then it is not kept.
        if (generation === generationBefore) {
          if (cache.size >= KEY_CACHE_ENTRIES_MAX) cache.delete(cache.keys().next().value!)
          cache.set(hash, loaded)
        }
        return loaded
      })

      const authenticate = (secret: string): Effect.Effect<Principal, Unauthorized> =>
        Effect.withFiber((fiber) => {
          if (secret === "") return Effect.fail(new Unauthorized({ reason: "missing" }))
          const nowMs = fiber.getRef(Clock.Clock).currentTimeMillisUnsafe()
          const hash = sha256Hex(secret)
          if (hash === operatorHash) return Effect.succeed(operator)
          const cached = cache.get(hash)
          if (cached !== undefined && nowMs - cached.loadedAtMs < KEY_CACHE_TTL_MS) return accept(cached, nowMs)
          if (!isWellFormed(secret, sha256Hex)) return Effect.fail(new Unauthorized({ reason: "malformed" }))
          return Effect.flatMap(load(hash, nowMs), (loaded) => accept(loaded, nowMs))
        })

      return Authentication.of({ authenticate })
    })
  )
}

const accept = (cached: Cached, nowMs: number): Effect.Effect<Principal, Unauthorized> =>
  cached.refusedFromMs > nowMs
    ? Effect.succeed(cached.principal)
    : Effect.fail(new Unauthorized({ reason: cached.refusal }))

const toCached = ({ key, ownerName, rateLimitRpm }: KeyWithOwner, loadedAtMs: number, limits: RateLimits): Cached => {
  const revokedAtMs = key.revokedAt?.epochMilliseconds ?? Infinity
  const expiresAtMs = key.expiresAt?.epochMilliseconds ?? Infinity
  const shared = { name: ownerName, keyId: key.id, expiresAt: key.expiresAt }
  return {
    loadedAtMs,
    refusedFromMs: Math.min(revokedAtMs, expiresAtMs),
    refusal: revokedAtMs <= expiresAtMs ? "revoked" : "expired",
    principal:
      key.role === "consumer"
        ? {
            ...shared,
            role: "consumer",
            ownerId: key.ownerId as ConsumerId,
            rateLimitRpm: rateLimitRpm ?? limits.defaultRpm
          }
        : { ...shared, role: "provider", ownerId: key.ownerId as ProviderId, rateLimitRpm: limits.providerRpm }
  }
}

/**
 * The in-memory store of the library's rate limiter, with a bounded number of buckets. Clients choose the keys (every
 * address is one), so the least recently used buckets are dropped. A dropped bucket starts full again.
 */
import { Clock, Duration, Effect, Layer } from "effect"
import { RateLimiter } from "effect/persistence"

export const BUCKETS_MAX = 200_000

interface Bucket {
  tokens: number
  lastRefillMs: number
}

const make = Effect.gen(function* () {
  const library = yield* RateLimiter.RateLimiterStore
  const buckets = new Map<string, Bucket>()

  const bucketOf = (key: string, limit: number, nowMs: number): Bucket => {
    const known = buckets.get(key)
    if (known !== undefined) {
      if (buckets.size > BUCKETS_MAX / 2) {
        buckets.delete(key)
        buckets.set(key, known)
      }
      return known
    }
    if (buckets.size >= BUCKETS_MAX) buckets.delete(buckets.keys().next().value!)
    const fresh = { tokens: limit, lastRefillMs: nowMs }
    buckets.set(key, fresh)
    return fresh
  }

  return RateLimiter.RateLimiterStore.of({
    ...library,
    tokenBucket: (options) =>
      Effect.withFiber((fiber) => {
        const nowMs = fiber.getRef(Clock.Clock).currentTimeMillisUnsafe()
        const refillMs = Duration.toMillis(options.refillRate)
        const bucket = bucketOf(options.key, options.limit, nowMs)
        const refilled = Math.floor((nowMs - bucket.lastRefillMs) / refillMs)
        if (refilled > 0) {
          bucket.tokens = Math.min(options.limit, bucket.tokens + refilled)
          bucket.lastRefillMs += refilled * refillMs
        }
        if (bucket.tokens >= options.limit) bucket.lastRefillMs = nowMs
        const left = bucket.tokens - options.tokens
        if (options.allowOverflow || left >= 0) bucket.tokens = left
        return Effect.succeed([left, Math.max(0, nowMs - bucket.lastRefillMs)] as const)
      })
  })
})

export const layer = Layer.effect(RateLimiter.RateLimiterStore, make).pipe(Layer.provide(RateLimiter.layerStoreMemory))

export type TokenBucket = RateLimiter.RateLimiterStore["Service"]["tokenBucket"]

/** With the buckets of another process. */
export const layerOver = (tokenBucket: TokenBucket) =>
  Layer.effect(
    RateLimiter.RateLimiterStore,
    Effect.map(RateLimiter.RateLimiterStore, (library) => ({ ...library, tokenBucket }))
  ).pipe(Layer.provide(RateLimiter.layerStoreMemory))

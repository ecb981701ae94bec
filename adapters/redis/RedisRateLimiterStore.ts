/**
 * The library's rate limiter store in Redis, which nodes share. It is asked, but not waited for: a Redis that is away or
 * silent must not hold up the service.
 */
import * as NodeRedis from "@effect/platform-node/NodeRedis"
import { Duration, Effect, Layer, Redacted } from "effect"
import { RateLimiter } from "effect/persistence"

const WAIT_MAX = Duration.millis(500)

const bounded = Layer.effect(
  RateLimiter.RateLimiterStore,
  Effect.map(RateLimiter.RateLimiterStore, (library) =>
    RateLimiter.RateLimiterStore.of({
      ...library,
      tokenBucket: (options) =>
        Effect.timeoutOrElse(library.tokenBucket(options), { duration: WAIT_MAX, orElse: () => noAnswer })
    })
  )
)

const noAnswer = Effect.suspend(() =>
  Effect.fail(
    new RateLimiter.RateLimiterError({
      reason: new RateLimiter.RateLimitStoreError({ message: "Redis does not answer" })
    })
  )
)

export const layer = (url: Redacted.Redacted) =>
  bounded.pipe(
    Layer.provide(RateLimiter.layerStoreRedis()),
    // Without a connection a command fails at once instead of waiting for one.
    Layer.provide(NodeRedis.layer({ url: Redacted.value(url), disableOfflineQueue: true }))
  )

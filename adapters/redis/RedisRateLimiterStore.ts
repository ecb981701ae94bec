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

/** The library waits for what is still unanswered, which a silent Redis never answers. */
const closedInTime = Layer.effectDiscard(
  Effect.flatMap(NodeRedis.NodeRedis, ({ client }) =>
    Effect.addFinalizer(() =>
      Effect.promise(() => client.close()).pipe(
        Effect.timeoutOrElse({ duration: WAIT_MAX, orElse: () => Effect.sync(() => client.destroy()) }),
        Effect.ignoreCause
      )
    )
  )
)

export const layer = (url: Redacted.Redacted) =>
  Layer.merge(bounded.pipe(Layer.provide(RateLimiter.layerStoreRedis())), closedInTime).pipe(
    // Without a connection a command fails at once instead of waiting for one.
    Layer.provide(NodeRedis.layer({ url: Redacted.value(url), disableOfflineQueue: true }))
  )

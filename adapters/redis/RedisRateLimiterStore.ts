/**
 * The library's rate limiter store in Redis, shared by nodes. Requests never wait for Redis: while it is missing or
 * silent, also at the start, this node counts alone in the given store, and switches to Redis when it responds.
 */
import * as NodeRedis from "@effect/platform-node/NodeRedis"
import { Clock, Context, Duration, Effect, Exit, Layer, Logger, Redacted, Schedule, Scope } from "effect"
import { RateLimiter } from "effect/persistence"
import { RateLimitState } from "../../domain/platform/Health.ts"
import { monotonicMs } from "../../domain/shared/Time.ts"

const WAIT_MAX = Duration.millis(500)
const WAIT_AT_START_MAX = Duration.seconds(3)
/** While Redis does not respond, it is tried this often instead of on every request. */
const RETRY_AFTER_MS = 1_000
const RECONNECT_SCHEDULE = Schedule.spaced("1 second")
const UNAVAILABLE = "Redis does not respond: each node counts rate limits alone."

type Store = RateLimiter.RateLimiterStore["Service"]

const noAnswer = Effect.suspend(() =>
  Effect.fail(
    new RateLimiter.RateLimiterError({
      reason: new RateLimiter.RateLimitStoreError({ message: "Redis does not respond" })
    })
  )
)

/** The library waits for unanswered commands, which a silent Redis never answers. */
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

const connected = (url: Redacted.Redacted) =>
  Layer.merge(RateLimiter.layerStoreRedis(), closedInTime).pipe(
    // A command without a connection fails at once instead of waiting.
    Layer.provide(NodeRedis.layer({ url: Redacted.value(url), disableOfflineQueue: true })),
    // The client reports every attempt to connect; one line is logged below instead.
    Layer.provide(Logger.layer([]))
  )

export const layer = (url: Redacted.Redacted) =>
  Layer.effectContext(
    Effect.gen(function* () {
      const own = yield* RateLimiter.RateLimiterStore
      const scope = yield* Effect.scope
      const clock = yield* Clock.Clock
      let shared: Store | undefined
      let unavailableSinceMs: number | undefined

      const found = (store: Store) =>
        Effect.suspend(() => {
          shared = store
          const wasUnavailable = unavailableSinceMs !== undefined
          unavailableSinceMs = undefined
          return wasUnavailable ? Effect.logInfo("Redis responds again: nodes share rate limits") : Effect.void
        })
      const lost = Effect.suspend(() => {
        const isChange = unavailableSinceMs === undefined
        unavailableSinceMs = monotonicMs(clock)
        return isChange ? Effect.logWarning(`The rate limiter's ${UNAVAILABLE}`) : Effect.void
      })

      const connect = Effect.gen(function* () {
        // A scope of its own: a failed attempt is closed at once.
        const attempt = yield* Scope.fork(scope)
        const context = yield* Layer.buildWithScope(Layer.fresh(connected(url)), attempt).pipe(
          Effect.onError((cause) => Scope.close(attempt, Exit.failCause(cause)))
        )
        yield* found(Context.get(context, RateLimiter.RateLimiterStore))
      })
      const first = yield* Effect.exit(Effect.timeout(connect, WAIT_AT_START_MAX))
      if (first._tag === "Failure") {
        yield* lost
        yield* Effect.forkScoped(Effect.retry(connect, RECONNECT_SCHEDULE))
      }

      const store: Store = {
        ...own,
        tokenBucket: (options) =>
          Effect.suspend(() => {
            if (shared === undefined) return own.tokenBucket(options)
            if (unavailableSinceMs !== undefined && monotonicMs(clock) - unavailableSinceMs < RETRY_AFTER_MS) {
              return own.tokenBucket(options)
            }
            const asked = shared
            return Effect.timeoutOrElse(asked.tokenBucket(options), {
              duration: WAIT_MAX,
              orElse: () => noAnswer
            }).pipe(
              Effect.tap(() => (unavailableSinceMs === undefined ? Effect.void : found(asked))),
              Effect.catchTag("RateLimiterError", () => Effect.andThen(lost, own.tokenBucket(options)))
            )
          })
      }
      return Context.make(RateLimiter.RateLimiterStore, store).pipe(
        Context.add(RateLimitState, { problem: () => (unavailableSinceMs === undefined ? undefined : UNAVAILABLE) })
      )
    })
  )

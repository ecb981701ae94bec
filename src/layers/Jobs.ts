/**
 * Background work of a node. Every round is safe on any number of nodes at once; a round that fails is logged and the
 * next one comes all the same.
 */
import { DateTime, Duration, Effect, Layer, Schedule } from "effect"
import { CallStore } from "../../domain/metering/CallStore.ts"
import { Sweeper } from "../../domain/metering/Sweeper.ts"
import { IDEMPOTENCY_DAYS_KEPT } from "../../domain/shared/Idempotency.ts"
import { IdempotencyStore } from "../../domain/shared/IdempotencyStore.ts"

const SWEEP_EVERY = Duration.seconds(5)
const PRUNE_EVERY = Duration.hours(1)
const PRUNED_AT_ONCE_MAX = 10_000

const every = (interval: Duration.Duration, name: string, round: Effect.Effect<unknown>) =>
  round.pipe(
    Effect.catchCause((cause) => Effect.logWarning(`The job ${name} failed; it runs again`, cause)),
    Effect.repeat(Schedule.spaced(interval)),
    Effect.forkScoped
  )

export const jobs = Layer.effectDiscard(
  Effect.gen(function* () {
    const sweeper = yield* Sweeper
    const idempotency = yield* IdempotencyStore
    const calls = yield* CallStore

    const prune = Effect.gen(function* () {
      const before = DateTime.subtract(yield* DateTime.now, { days: IDEMPOTENCY_DAYS_KEPT })
      yield* idempotency.prune(before, PRUNED_AT_ONCE_MAX)
      yield* calls.forget(before, PRUNED_AT_ONCE_MAX)
    })

    yield* every(SWEEP_EVERY, "sweeper", sweeper.sweep)
    yield* every(PRUNE_EVERY, "prune", prune)
  })
)

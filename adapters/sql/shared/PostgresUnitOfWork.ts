/**
 * PostgreSQL transactions. The connection is part of the fiber's context, so every store called inside joins; nested
 * units are savepoints. A deadlock or a serialization failure is retried from the outermost unit. A lost connection is
 * never retried: the outcome of its COMMIT is unknown.
 */
import { type Cause, Clock, Effect, Layer, Random } from "effect"
import { SqlError } from "effect/sql"
import { StoreUnavailable, UnitOfWork } from "../../../domain/shared/StoreUnavailable.ts"
import { isConflict } from "./SqlFailures.ts"
import { storeSql } from "./StoreSql.ts"

const RETRIES_MAX = 3
const RETRY_AFTER_MS_MIN = 10
const RETRY_AFTER_MS_MAX = 50

export const layer = Layer.effect(
  UnitOfWork,
  Effect.gen(function* () {
    const sql = yield* storeSql
    const transaction = <A, E, R>(
      effect: Effect.Effect<A, E, R>,
      retriesLeft: number
    ): Effect.Effect<A, E | StoreUnavailable, R> =>
      sql
        .withTransaction(effect)
        .pipe(
          Effect.catchCause((cause) =>
            retriesLeft > 0 && cause.reasons.some(isTransient)
              ? Effect.andThen(pause, transaction(effect, retriesLeft - 1))
              : Effect.failCause(cause)
          )
        )
    return UnitOfWork.of({
      atomically: (effect) =>
        Effect.flatMap(sql.isInTransaction, (isNested) => transaction(effect, isNested ? 0 : RETRIES_MAX))
    })
  })
)

/** Avoids another conflict with the transaction that won. Uses the machine's time, as the database does. */
const pause = Random.nextBetween(RETRY_AFTER_MS_MIN, RETRY_AFTER_MS_MAX).pipe(
  Effect.flatMap(Effect.sleep),
  Effect.provideService(Clock.Clock, Clock.Clock.defaultValue())
)

const isTransient = (reason: Cause.Reason<unknown>): boolean =>
  reason._tag === "Fail" &&
  reason.error instanceof StoreUnavailable &&
  SqlError.isSqlError(reason.error.cause) &&
  isConflict(reason.error.cause)

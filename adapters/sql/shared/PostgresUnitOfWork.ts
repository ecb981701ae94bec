/**
 * PostgreSQL transactions. The connection is part of the fiber's context, so every store called inside joins; nested
 * units are savepoints. A deadlock or a serialization failure is retried from the outermost unit; any other database
 * failure is a defect. A lost connection is never retried: the outcome of its COMMIT is unknown.
 */
import { type Cause, Clock, Effect, Layer, Option, Random } from "effect"
import { SqlClient, SqlError } from "effect/sql"
import { UnitOfWork } from "../../../domain/shared/UnitOfWork.ts"

const RETRIES_MAX = 3
const RETRY_AFTER_MS_MIN = 10
const RETRY_AFTER_MS_MAX = 50

export const layer = Layer.effect(
  UnitOfWork,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const transaction = <A, E, R>(effect: Effect.Effect<A, E, R>, retriesLeft: number): Effect.Effect<A, E, R> =>
      sql.withTransaction(effect).pipe(
        Effect.catchCause((cause) =>
          retriesLeft > 0 && isTransient(cause)
            ? Effect.andThen(pause, transaction(effect, retriesLeft - 1))
            : Effect.failCause(cause)
        ),
        Effect.catchIf(SqlError.isSqlError, (error) => Effect.die(error))
      ) as Effect.Effect<A, E, R>
    return UnitOfWork.of({
      atomically: (effect) =>
        Effect.flatMap(Effect.serviceOption(sql.transactionService), (outer) =>
          transaction(effect, Option.isNone(outer) ? RETRIES_MAX : 0)
        )
    })
  })
)

/** Avoids another conflict with the transaction that won. Uses the machine's time, as the database does. */
const pause = Random.nextBetween(RETRY_AFTER_MS_MIN, RETRY_AFTER_MS_MAX).pipe(
  Effect.flatMap(Effect.sleep),
  Effect.provideService(Clock.Clock, Clock.Clock.defaultValue())
)

/** Stores turn database failures into defects, so both are checked. */
const isTransient = (cause: Cause.Cause<unknown>): boolean =>
  cause.reasons.some((reason) => {
    const failure = reason._tag === "Fail" ? reason.error : reason._tag === "Die" ? reason.defect : undefined
    return (
      SqlError.isSqlError(failure) &&
      (failure.reason._tag === "DeadlockError" || failure.reason._tag === "SerializationError")
    )
  })

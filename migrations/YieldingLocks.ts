/**
 * Migrations take their locks while nodes serve. One that waits for a lock keeps those that it has, and a call can wait
 * for these and hold the other: a deadlock, which stops one of the two. So a migration waits for less time than
 * PostgreSQL needs to find a deadlock (1 s). Then it gives all locks back, and starts again.
 */
import { Duration, Effect, Schedule, Schema } from "effect"
import { type Migrator, SqlClient, SqlError } from "effect/sql"

const LOCK_WAIT_MS = 100
const PAUSE = Duration.millis(300)
/** About two minutes. */
const ATTEMPTS_MAX = 300

/** Transactions kept what a migration has to lock. */
export class SchemaBusy extends Schema.TaggedError<SchemaBusy>()("SchemaBusy", { migration: Schema.String }) {
  override get message(): string {
    return `${this.migration}: other transactions kept its tables locked, at each of ${ATTEMPTS_MAX} attempts. Nothing was applied. End long transactions and backups (pg_stat_activity shows them), then migrate again.`
  }
}

/** A migration that waits for no lock longer than calls can wait for it. */
export const yielding = <A, E>(migration: Effect.Effect<A, E, SqlClient.SqlClient>) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    Effect.andThen(sql.unsafe(`SET LOCAL lock_timeout = '${LOCK_WAIT_MS}ms'`), migration)
  )

interface Tagged {
  readonly _tag: string
  readonly message: string
}

const isLocked = (error: Tagged): error is Migrator.MigrationError =>
  error._tag === "MigrationError" &&
  "cause" in error &&
  error.cause instanceof SqlError.SqlError &&
  (error.cause.reason._tag === "LockTimeoutError" || error.cause.reason._tag === "DeadlockError")

/** Runs all migrations again until they get their locks. */
export const patiently = <A, E extends Tagged, R>(run: Effect.Effect<A, E, R>) =>
  run.pipe(
    Effect.retry({
      while: isLocked,
      times: ATTEMPTS_MAX,
      schedule: Schedule.jittered(Schedule.spaced(PAUSE))
    }),
    Effect.catchIf(isLocked, ({ message }) => new SchemaBusy({ migration: message }))
  )

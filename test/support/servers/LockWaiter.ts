/**
 * Waits, inside a transaction, until another session waits for a lock of this transaction.
 */
import { Effect, Schedule } from "effect"
import { SqlClient } from "effect/sql"

export const untilAnotherWaits = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`SELECT 1 FROM pg_locks WHERE NOT granted AND transactionid = pg_current_xact_id()::xid`.pipe(
    Effect.repeat({ until: (waiting) => waiting.length > 0, schedule: Schedule.spaced("5 millis") })
  )
})

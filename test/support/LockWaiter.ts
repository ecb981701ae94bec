/**
 * Inside a transaction: waits until another session waits for what this transaction has locked.
 */
import { Effect, Schedule } from "effect"
import { SqlClient } from "effect/sql"

export const untilAnotherWaits = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`SELECT 1 FROM pg_locks WHERE NOT granted AND transactionid = pg_current_xact_id()::xid`.pipe(
    Effect.repeat({ until: (waiting) => waiting.length > 0, schedule: Schedule.spaced("5 millis") })
  )
})

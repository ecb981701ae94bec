/**
 * Waits, inside a transaction, until another session waits for a lock of this transaction. On a cluster the lock is that of a
 * worker, where transactions have other numbers: any session of the database that waits there.
 */
import { Effect, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { isCluster } from "./CitusCluster.ts"

export const untilAnotherWaits = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const waits = isCluster
    ? sql`SELECT 1 FROM run_command_on_workers($$
        SELECT count(*) FROM pg_locks l JOIN pg_stat_activity a USING (pid)
        WHERE NOT l.granted AND l.locktype = 'transactionid' AND a.datname = current_database()$$) WHERE result <> '0'`
    : sql`SELECT 1 FROM pg_locks WHERE NOT granted AND transactionid = pg_current_xact_id()::xid`
  yield* waits.pipe(Effect.repeat({ until: (waiting) => waiting.length > 0, schedule: Schedule.spaced("5 millis") }))
})

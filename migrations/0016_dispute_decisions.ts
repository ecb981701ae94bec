/**
 * Until when the operator may decide a contested dispute. Whatever waits already has the whole time from now on: nobody is
 * decided against by an upgrade.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE disputes ADD COLUMN decide_by timestamptz`
  yield* sql`UPDATE disputes SET decide_by = date_trunc('milliseconds', now()) + interval '30 days' WHERE status = 2`
  yield* sql`CREATE INDEX disputes_contested ON disputes (decide_by) WHERE status = 2`
})

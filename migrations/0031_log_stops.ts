/**
 * A log that no longer has the tree that was signed takes no more receipts; the statement with which its successor begins.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  yield* sql`ALTER TABLE receipt_logs ADD COLUMN stopped text`
  yield* sql`ALTER TABLE receipt_logs ADD COLUMN signed_note text`
  yield* sql`ALTER TABLE receipt_logs ADD COLUMN statement text`
})

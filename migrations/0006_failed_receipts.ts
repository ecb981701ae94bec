/**
 * Lists of failed calls, which are few: without these indexes they would be looked for among all calls of an account.
 * Successful calls do not enter them.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const filtered = sql.literal("INCLUDE (status, called_at, tool_id) WHERE status <> 1")
  yield* sql`CREATE INDEX receipts_failed_of_consumer ON receipts (consumer_id, receipt_id) ${filtered}`
  yield* sql`CREATE INDEX receipts_failed_of_provider ON receipts (provider_id, receipt_id) ${filtered}`
})

/**
 * The functions of calls in statements that one PostgreSQL and a Citus cluster plan alike, and a consumer for each row
 * that waits for the log. Nodes of earlier builds call the same functions, and
 * read views (`account_totals`, `usage_totals`, `transfers`) that a database of theirs keeps.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { closeCalls } from "./ledger/CloseCalls.ts"
import { openCalls } from "./ledger/OpenCalls.ts"
import { suspendCalls } from "./ledger/SuspendCalls.ts"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE receipts_unlogged ADD COLUMN consumer_id uuid`
  yield* sql`UPDATE receipts_unlogged w SET consumer_id = r.consumer_id FROM receipts r WHERE r.receipt_id = w.first_receipt`
  yield* sql`ALTER TABLE receipts_unlogged DROP CONSTRAINT receipts_unlogged_pkey, ADD PRIMARY KEY (first_receipt, consumer_id)`
  yield* Effect.all([openCalls, closeCalls, suspendCalls], { discard: true })
})

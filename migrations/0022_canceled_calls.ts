/**
 * What a tool publishes for calls whose caller cancels them, and how stored answers of calls whose caller left are found:
 * those that are still there, by their mark.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    ALTER TABLE tools
      ADD COLUMN on_cancel text NOT NULL DEFAULT 'finish' CHECK (on_cancel IN ('finish', 'pass')),
      ADD COLUMN canceled_call_costs text NOT NULL DEFAULT 'price' CHECK (canceled_call_costs IN ('price', 'nothing'))`
  yield* sql`
    CREATE INDEX call_idempotency_left ON call_idempotency (created_at)
    WHERE answer_headers LIKE '{"left"%' AND answer_body <> ''`
})

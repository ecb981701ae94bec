/**
 * Market figures that reported calls cannot move: free calls and the newest call of each tool, and the consumers that the
 * proxy made calls for. The sequencer keeps them, as it keeps the rest of `tool_figures`.
 *
 * From now on the origin of a receipt says whether a proxied call used a free call (3). Older receipts do not say so: a
 * success that cost nothing under a price counts as one. Receipts that wait for their place in the log are counted later.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  yield* sql`ALTER TABLE tool_figures ADD COLUMN free_calls int8 NOT NULL DEFAULT 0, ADD COLUMN last_called_at timestamptz`
  yield* sql`CREATE TABLE proxied_consumers (consumer_id uuid PRIMARY KEY)`

  yield* sql`
    WITH counted AS MATERIALIZED (
      SELECT r.tool_id, r.consumer_id, max(r.called_at) AS last_called_at,
        count(*) FILTER (WHERE r.status = 1 AND r.cost = 0 AND p.max_cost_microcents > 0) AS free_calls
      FROM receipts r LEFT JOIN tool_prices p ON p.tool_id = r.tool_id AND p.version = r.price_version
      WHERE r.origin = 1 AND r.status <> 6 AND r.provider_id <> r.consumer_id
        AND NOT EXISTS (SELECT FROM receipts_unlogged u
          WHERE u.receipt_id = r.receipt_id AND u.consumer_id = r.consumer_id)
        AND NOT EXISTS (SELECT FROM providers o JOIN consumers c ON lower(c.email) = lower(o.email)
          WHERE o.id = r.provider_id AND c.id = r.consumer_id)
      GROUP BY r.tool_id, r.consumer_id
    ), of_tools AS (
      UPDATE tool_figures t SET free_calls = c.free_calls, last_called_at = c.last_called_at
      FROM (SELECT tool_id, sum(free_calls) AS free_calls, max(last_called_at) AS last_called_at
        FROM counted GROUP BY tool_id) c
      WHERE t.tool_id = c.tool_id
    )
    INSERT INTO proxied_consumers SELECT DISTINCT consumer_id FROM counted`
})

/**
 * Which tool a consumer means by a bare tool name. For names that were called before, that is the listed tool which the
 * consumer called first with success; where none is listed any more, the first one.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE tool_name_pins (
    consumer_id uuid NOT NULL,
    tool_name text COLLATE "C" NOT NULL,
    tool_id uuid NOT NULL,
    pinned_at timestamptz(3) NOT NULL,
    PRIMARY KEY (consumer_id, tool_name)
  )`

  // Status 1: success. A provider reports calls of its own account, too: those are no consumer's.
  yield* sql`
    INSERT INTO tool_name_pins (consumer_id, tool_name, tool_id, pinned_at)
    SELECT DISTINCT ON (r.consumer_id, t.tool_name) r.consumer_id, t.tool_name, t.id, r.first_at
    FROM (
      SELECT consumer_id, tool_id, min(called_at) AS first_at FROM receipts WHERE status = 1 GROUP BY 1, 2
    ) r JOIN tools t ON t.id = r.tool_id JOIN consumers c ON c.id = r.consumer_id
    WHERE NOT EXISTS (SELECT FROM erasures e WHERE e.owner_id = r.consumer_id)
    ORDER BY r.consumer_id, t.tool_name, t.withdrawn_at IS NOT NULL, r.first_at, t.id`
})

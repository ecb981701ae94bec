/**
 * What finds the oldest hours of tools, which come in the order of time, without an index that every call would pay for;
 * and whose personal data was erased, when and by whom.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE INDEX sla_hourly_by_hour ON sla_hourly USING brin (hour) WITH (autosummarize = on)`
  yield* sql`CREATE TABLE erasures (
    owner_id uuid PRIMARY KEY,
    role text NOT NULL CHECK (role IN ('consumer', 'provider')),
    erased_by text NOT NULL CHECK (char_length(erased_by) BETWEEN 1 AND 200),
    erased_at timestamptz(3) NOT NULL,
    left_microcents int8 NOT NULL
  )`
})

/**
 * What finds the oldest hours of tools, which come in the order of time, without an index that every call would pay for.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE INDEX sla_hourly_by_hour ON sla_hourly USING brin (hour) WITH (autosummarize = on)`
})

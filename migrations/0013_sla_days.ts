/**
 * A provider's hours of a whole day taken together, for whoever reads thirty days of them. Derived: a day counts only as
 * long as it has as many calls as its hours.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  yield* sql`CREATE TABLE sla_daily (
    provider_id uuid NOT NULL,
    day timestamptz NOT NULL,
    calls int8 NOT NULL,
    successes int8 NOT NULL,
    timeouts int8 NOT NULL,
    latency_ms int8 NOT NULL,
    latencies bytea NOT NULL,
    PRIMARY KEY (provider_id, day)
  )`
})

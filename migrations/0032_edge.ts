/**
 * A payment that is not what was ordered is a state of its load. Mails of the last day, by the hash of their address.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE loads DROP CONSTRAINT loads_state_check`
  yield* sql`ALTER TABLE loads ADD CONSTRAINT loads_state_check
    CHECK (state IN ('opening', 'open', 'paid', 'expired', 'failed', 'mismatched'))`
  yield* sql`CREATE TABLE mailed_addresses (
    address_hash bytea PRIMARY KEY CHECK (length(address_hash) = 32),
    sent timestamptz(3)[] NOT NULL,
    last_sent timestamptz(3) NOT NULL
  )`
  yield* sql`CREATE INDEX mailed_addresses_age ON mailed_addresses (last_sent)`
})

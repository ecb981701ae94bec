/**
 * Calls that providers report: whom a provider's idempotency keys bill, and what is reserved in grants until a reported
 * call has ended. A key without bindings is free; it goes with the pruning.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE meter_keys (
    provider_id uuid NOT NULL,
    key_hash bytea NOT NULL,
    consumer_id uuid NOT NULL,
    bindings int8 NOT NULL CHECK (bindings >= 0),
    bound_at timestamptz(3) NOT NULL,
    PRIMARY KEY (provider_id, key_hash)
  )`
  yield* sql`CREATE INDEX meter_keys_age ON meter_keys (bound_at)`

  yield* sql`CREATE TABLE grant_reservations (
    consumer_id uuid NOT NULL,
    invocation_id uuid NOT NULL,
    grant_id uuid NOT NULL,
    amount int8 NOT NULL CHECK (amount > 0),
    period_start timestamptz(3) NOT NULL,
    reserved_at timestamptz(3) NOT NULL,
    PRIMARY KEY (consumer_id, invocation_id)
  )`
  yield* sql`CREATE INDEX grant_reservations_age ON grant_reservations (reserved_at)`
})

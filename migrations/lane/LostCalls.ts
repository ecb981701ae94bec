/**
 * Calls that a failover lost. The node that closed them knows them, the ledger does not.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const lostCalls = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // With the fields of a receipt, so that the signed one of a caller can be compared. acknowledged: whether the caller got
  // it; the others got an error. key_hash: of its idempotency key.
  yield* sql`CREATE TABLE lost_calls (
    receipt_id uuid NOT NULL,
    consumer_id uuid NOT NULL,
    provider_id uuid NOT NULL,
    tool_id uuid NOT NULL,
    tool_name text NOT NULL,
    called_at timestamptz NOT NULL,
    created_at timestamptz NOT NULL,
    cost int8 NOT NULL,
    fee int8 NOT NULL,
    status smallint NOT NULL,
    signature bytea NOT NULL,
    acknowledged boolean NOT NULL,
    key_hash bytea,
    found_at timestamptz NOT NULL,
    reviewed_at timestamptz,
    PRIMARY KEY (receipt_id, consumer_id)
  )`
  yield* sql`CREATE INDEX lost_calls_to_review ON lost_calls (receipt_id) WHERE reviewed_at IS NULL`
})

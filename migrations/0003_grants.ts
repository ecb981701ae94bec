/**
 * Grants: a consumer's leave for a provider to bill it for calls outside the proxy.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE grants (
    consumer_id uuid NOT NULL REFERENCES consumers (id),
    grant_id uuid NOT NULL,
    provider_id uuid NOT NULL REFERENCES providers (id),
    tool_ids uuid[] NOT NULL,
    cap int8 NOT NULL CHECK (cap >= 0),
    period text NOT NULL CHECK (period IN ('day', 'month', 'total')),
    period_start timestamptz(3) NOT NULL,
    spent int8 NOT NULL CHECK (spent >= 0),
    created_at timestamptz(3) NOT NULL,
    expires_at timestamptz(3),
    revoked_at timestamptz(3),
    PRIMARY KEY (consumer_id, grant_id)
  )`
})

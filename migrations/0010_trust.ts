/**
 * Hours of tools from the proxy's own traffic, who called whom, how every provider stands, and what proves who it is.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // Hours of a provider as a whole stand under its own id as tool; its tools have a row a day.
  yield* sql`CREATE TABLE sla_hourly (
    provider_id uuid NOT NULL,
    tool_id uuid NOT NULL,
    hour timestamptz NOT NULL,
    calls int8 NOT NULL,
    successes int8 NOT NULL,
    timeouts int8 NOT NULL,
    latency_ms int8 NOT NULL,
    latencies bytea NOT NULL,
    PRIMARY KEY (provider_id, tool_id, hour)
  ) WITH (fillfactor = 70)`

  // Written several times a second while a provider is busy: compressing it each time would cost more than it saves.
  yield* sql`ALTER TABLE sla_hourly ALTER COLUMN latencies SET STORAGE EXTERNAL`

  yield* sql`CREATE TABLE provider_consumers (
    provider_id uuid NOT NULL,
    consumer_id uuid NOT NULL,
    last_seen date NOT NULL,
    PRIMARY KEY (provider_id, consumer_id)
  ) WITH (fillfactor = 70)`

  yield* sql`CREATE TABLE provider_standings (
    provider_id uuid PRIMARY KEY,
    changed boolean NOT NULL,
    score smallint,
    badge text,
    tool_p95_ms text,
    settled_on date
  ) WITH (fillfactor = 70)`
  yield* sql`CREATE INDEX provider_standings_changed ON provider_standings (provider_id) WHERE changed`

  yield* sql`CREATE TABLE provider_scores (
    provider_id uuid NOT NULL,
    day date NOT NULL,
    score smallint NOT NULL,
    PRIMARY KEY (provider_id, day)
  )`

  // One proof of each kind a provider: its challenge while it is open, and since when it holds.
  yield* sql`CREATE TABLE provider_proofs (
    provider_id uuid NOT NULL,
    level text NOT NULL,
    subject text NOT NULL,
    token_hash text,
    token_sealed text,
    expires_at timestamptz,
    verified_at timestamptz,
    checked_at timestamptz,
    missing_since timestamptz,
    missed int4 NOT NULL DEFAULT 0,
    PRIMARY KEY (provider_id, level)
  )`
  yield* sql`CREATE INDEX provider_proofs_due ON provider_proofs (checked_at) WHERE verified_at IS NOT NULL`
  yield* sql`CREATE TABLE proof_attempts (
    provider_id uuid NOT NULL,
    kind text NOT NULL,
    since timestamptz NOT NULL,
    attempts int4 NOT NULL,
    PRIMARY KEY (provider_id, kind)
  )`
})

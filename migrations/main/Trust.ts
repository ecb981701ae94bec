/**
 * Service levels and trust scores of providers, and the verification of who they are.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const trust = Effect.gen(function* () {
  yield* serviceLevels
  yield* scores
  yield* verification
})

const serviceLevels = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // A provider as a whole has a row per hour, with its own id as tool_id; each of its tools has a row per day.
  yield* sql`CREATE TABLE sla_hourly (
    provider_id uuid NOT NULL,
    tool_id uuid NOT NULL,
    hour timestamptz NOT NULL,
    calls int8 NOT NULL,
    successes int8 NOT NULL,
    timeouts int8 NOT NULL,
    input_rejected int8 NOT NULL DEFAULT 0,
    latency_ms int8 NOT NULL,
    latencies bytea NOT NULL,
    PRIMARY KEY (provider_id, tool_id, hour)
  ) WITH (fillfactor = 70)`
  // Written several times a second while a provider is busy: compression would cost more than it saves.
  yield* sql`ALTER TABLE sla_hourly ALTER COLUMN latencies SET STORAGE EXTERNAL`
  yield* sql`CREATE INDEX sla_hourly_by_hour ON sla_hourly USING brin (hour) WITH (autosummarize = on)`

  // Derived from sla_hourly for reads of thirty days. A day counts only while it has as many calls as its hours.
  yield* sql`CREATE TABLE sla_daily (
    provider_id uuid NOT NULL,
    day timestamptz NOT NULL,
    calls int8 NOT NULL,
    successes int8 NOT NULL,
    timeouts int8 NOT NULL,
    input_rejected int8 NOT NULL DEFAULT 0,
    latency_ms int8 NOT NULL,
    latencies bytea NOT NULL,
    PRIMARY KEY (provider_id, day)
  )`
})

const scores = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // Paid calls by latency: up_to_500_ms includes those of up_to_200_ms.
  yield* sql`CREATE TABLE trust_daily (
    provider_id uuid NOT NULL,
    day date NOT NULL,
    consumer_id uuid NOT NULL,
    paid int8 NOT NULL,
    paid_calls int4 NOT NULL,
    failed_calls int4 NOT NULL,
    input_rejected int4 NOT NULL,
    up_to_200_ms int4 NOT NULL,
    up_to_500_ms int4 NOT NULL,
    up_to_1000_ms int4 NOT NULL,
    up_to_2000_ms int4 NOT NULL,
    up_to_5000_ms int4 NOT NULL,
    longest_ms int4 NOT NULL,
    PRIMARY KEY (provider_id, day, consumer_id)
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
})

const verification = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // One verification of each level per provider: its challenge while it is open, and since when it is verified.
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

  // Mails of the last day, by the SHA-256 of their address.
  yield* sql`CREATE TABLE mailed_addresses (
    address_hash bytea PRIMARY KEY CHECK (length(address_hash) = 32),
    sent timestamptz(3)[] NOT NULL,
    last_sent timestamptz(3) NOT NULL
  )`
  yield* sql`CREATE INDEX mailed_addresses_age ON mailed_addresses (last_sent)`
})

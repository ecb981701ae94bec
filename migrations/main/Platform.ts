/**
 * Idempotency of all requests except proxied calls, the waitlist, submissions, and the history of health checks.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const platform = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // The response is missing only while the transaction that took the key is open.
  yield* sql`CREATE TABLE idempotency_keys (
    scope text NOT NULL CHECK (char_length(scope) <= 200),
    key_hash bytea NOT NULL CHECK (octet_length(key_hash) = 32),
    request_hash bytea NOT NULL CHECK (octet_length(request_hash) = 32),
    sealed_answer text CHECK (octet_length(sealed_answer) <= 4194304),
    created_at timestamptz(3) NOT NULL,
    PRIMARY KEY (scope, key_hash)
  )`
  yield* sql`CREATE INDEX idempotency_keys_by_age ON idempotency_keys (created_at)`

  // A provider's idempotency key bills one consumer. A key without bindings may be bound again, and is pruned.
  yield* sql`CREATE TABLE meter_keys (
    provider_id uuid NOT NULL,
    key_hash bytea NOT NULL,
    consumer_id uuid NOT NULL,
    bindings int8 NOT NULL CHECK (bindings >= 0),
    bound_at timestamptz(3) NOT NULL,
    PRIMARY KEY (provider_id, key_hash)
  )`
  yield* sql`CREATE INDEX meter_keys_age ON meter_keys (bound_at)`

  yield* sql`CREATE TABLE waitlist (
    id uuid PRIMARY KEY,
    email text COLLATE "C" NOT NULL UNIQUE CHECK (char_length(email) BETWEEN 3 AND 254),
    source text NOT NULL CHECK (char_length(source) <= 200),
    joined_at timestamptz(3) NOT NULL
  )`
  yield* sql`CREATE INDEX waitlist_joined ON waitlist USING brin (joined_at)`

  yield* sql`CREATE TABLE submissions (
    id uuid PRIMARY KEY,
    kind text NOT NULL CHECK (kind IN ('feedback', 'application')),
    content json NOT NULL CHECK (octet_length(content::text) <= 1048576),
    submitted_at timestamptz(3) NOT NULL
  )`
  yield* sql`CREATE INDEX submissions_of_kind ON submissions (kind, submitted_at, id)`

  // The results of each check, by day. Every node adds its own samples.
  yield* sql`CREATE TABLE health_history (
    day date NOT NULL,
    check_name text COLLATE "C" NOT NULL CHECK (char_length(check_name) BETWEEN 1 AND 100),
    ok int8 NOT NULL CHECK (ok >= 0),
    degraded int8 NOT NULL CHECK (degraded >= 0),
    down int8 NOT NULL CHECK (down >= 0),
    PRIMARY KEY (day, check_name)
  ) WITH (fillfactor = 70)`
})

/**
 * Sessions of MCP clients, events of their streams that other nodes replay, and tasks of calls.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const mcp = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // A session without a provider is one with the market itself. The upstream version is null over a provider's server
  // without sessions (2026-07-28).
  yield* sql`CREATE TABLE mcp_sessions (
    id text COLLATE "C" PRIMARY KEY CHECK (char_length(id) BETWEEN 32 AND 128),
    consumer_id uuid NOT NULL,
    provider_id uuid,
    endpoint_url text CHECK (char_length(endpoint_url) <= 2048),
    version text NOT NULL CHECK (char_length(version) <= 20),
    upstream_version text CHECK (char_length(upstream_version) <= 20),
    upstream_session_id text CHECK (char_length(upstream_session_id) <= 1024),
    client_params text NOT NULL CHECK (octet_length(client_params) <= 65536),
    has_state boolean NOT NULL,
    created_at timestamptz(3) NOT NULL,
    last_seen_at timestamptz(3) NOT NULL,
    expires_at timestamptz(3) NOT NULL,
    CHECK ((provider_id IS NULL) = (endpoint_url IS NULL)),
    CHECK (provider_id IS NOT NULL OR upstream_version IS NULL),
    CHECK (upstream_version IS NOT NULL OR upstream_session_id IS NULL)
  )`
  yield* sql`CREATE INDEX mcp_sessions_of ON mcp_sessions (consumer_id, last_seen_at DESC)`
  yield* sql`CREATE INDEX mcp_sessions_by_expiry ON mcp_sessions (expires_at)`

  // Sealed. The last event of a stream has no message.
  yield* sql`CREATE TABLE mcp_stream_events (
    stream_id text COLLATE "C" NOT NULL CHECK (char_length(stream_id) <= 64),
    sequence int4 NOT NULL CHECK (sequence >= 0),
    sealed_message text CHECK (octet_length(sealed_message) <= 4194304),
    stored_at timestamptz(3) NOT NULL,
    PRIMARY KEY (stream_id, sequence)
  )`
  yield* sql`CREATE INDEX mcp_stream_events_by_age ON mcp_stream_events (stored_at)`

  // A row is open until its call is settled, which sets status and final. ended_at: the provider's ending is known, in
  // outcome. The terms may contain an output schema. The upstream version is null over a server of 2026-07-28.
  yield* sql`CREATE TABLE mcp_tasks (
    id text COLLATE "C" PRIMARY KEY CHECK (char_length(id) BETWEEN 32 AND 64),
    consumer_id uuid NOT NULL,
    provider_id uuid NOT NULL,
    endpoint_url text NOT NULL CHECK (char_length(endpoint_url) <= 2048),
    upstream_version text CHECK (char_length(upstream_version) <= 20),
    upstream_session_id text CHECK (char_length(upstream_session_id) <= 1024),
    receipt_id text COLLATE "C" NOT NULL CHECK (char_length(receipt_id) <= 64),
    upstream_id text NOT NULL CHECK (char_length(upstream_id) <= 1024),
    key_hash text COLLATE "C" CHECK (char_length(key_hash) = 64),
    terms text NOT NULL CHECK (octet_length(terms) <= 524288),
    created_at timestamptz(3) NOT NULL,
    state text NOT NULL CHECK (char_length(state) <= 65536),
    poll_ms int4 NOT NULL CHECK (poll_ms > 0),
    expires_at timestamptz(3) NOT NULL,
    asked_at timestamptz(3) NOT NULL,
    due_at timestamptz(3) NOT NULL,
    failures int4 NOT NULL CHECK (failures >= 0),
    waited_ms int4 NOT NULL CHECK (waited_ms >= 0),
    waiting_since timestamptz(3),
    canceled boolean NOT NULL,
    outcome text CHECK (octet_length(outcome) <= 16777216),
    ended_at timestamptz(3),
    status text CHECK (status IN ('completed', 'failed', 'cancelled')),
    final text CHECK (octet_length(final) <= 16777216),
    CHECK (upstream_version IS NOT NULL OR upstream_session_id IS NULL),
    CHECK ((outcome IS NULL) = (ended_at IS NULL)),
    CHECK ((final IS NULL) = (status IS NULL)),
    CHECK (final IS NULL OR ended_at IS NOT NULL)
  )`
  yield* sql`CREATE INDEX mcp_tasks_due ON mcp_tasks (due_at) WHERE final IS NULL`
  yield* sql`CREATE INDEX mcp_tasks_by_key ON mcp_tasks (consumer_id, key_hash) WHERE key_hash IS NOT NULL`
  yield* sql`CREATE INDEX mcp_tasks_of ON mcp_tasks (consumer_id, created_at DESC, id DESC)`
  yield* sql`CREATE INDEX mcp_tasks_kept ON mcp_tasks (consumer_id, ended_at DESC) WHERE final IS NOT NULL`
  yield* sql`CREATE INDEX mcp_tasks_by_end ON mcp_tasks (ended_at) WHERE final IS NOT NULL`
})

/**
 * Sessions of MCP clients, and events of their streams that other nodes replay.
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
})

/**
 * Tools that come from providers' servers: what each server listed, how it is kept in sync, what every import changed, and
 * the versions of tools' definitions.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const toolImports = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  yield* sql`CREATE TABLE tool_versions (
    tool_id uuid NOT NULL REFERENCES tools (id),
    version int4 NOT NULL CHECK (version >= 1),
    changed_at timestamptz(3) NOT NULL,
    source text NOT NULL CHECK (source IN ('provider', 'server')),
    changed text[] NOT NULL CHECK (cardinality(changed) <= 10),
    definition json NOT NULL CHECK (octet_length(definition::text) <= 1048576),
    PRIMARY KEY (tool_id, version)
  )`

  yield* sql`CREATE TABLE tool_syncs (
    provider_id uuid PRIMARY KEY REFERENCES providers (id),
    enabled boolean NOT NULL,
    listed boolean NOT NULL,
    default_price_microcents int8 CHECK (default_price_microcents BETWEEN 0 AND 9007199254740991),
    next_at timestamptz(3) NOT NULL,
    checked_at timestamptz(3),
    problem text CHECK (char_length(problem) <= 1000)
  )`
  yield* sql`CREATE INDEX tool_syncs_due ON tool_syncs (next_at, provider_id) WHERE enabled`

  // Tools as imported last. The merge compares them with the market's, to tell what the provider has changed by hand.
  yield* sql`CREATE TABLE server_tools (
    provider_id uuid NOT NULL REFERENCES providers (id),
    tool_name text COLLATE "C" NOT NULL CHECK (char_length(tool_name) BETWEEN 1 AND 128),
    definition json NOT NULL CHECK (octet_length(definition::text) <= 1048576),
    missing_since timestamptz(3),
    dismissed boolean NOT NULL DEFAULT false,
    PRIMARY KEY (provider_id, tool_name)
  )`

  yield* sql`CREATE TABLE tool_imports (
    provider_id uuid NOT NULL REFERENCES providers (id),
    id uuid NOT NULL,
    imported_at timestamptz(3) NOT NULL,
    source text NOT NULL CHECK (source IN ('provider', 'server')),
    result json NOT NULL CHECK (octet_length(result::text) <= 1048576),
    PRIMARY KEY (provider_id, id)
  )`
})

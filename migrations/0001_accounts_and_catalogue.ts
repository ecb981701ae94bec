/**
 * Accounts, their keys, the catalogue with its price history, and the answers kept for idempotent requests.
 * Lengths are the last line of defence: the contract's own limits are narrower, and say so politely.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  yield* sql`
    CREATE TABLE providers (
      id uuid PRIMARY KEY,
      name text NOT NULL CHECK (char_length(name) <= 500),
      email text NOT NULL CHECK (char_length(email) <= 320),
      endpoint_url text NOT NULL CHECK (char_length(endpoint_url) <= 2048),
      description text NOT NULL CHECK (char_length(description) <= 20000),
      pricing_model text NOT NULL CHECK (pricing_model IN ('per_call', 'per_token', 'free')),
      default_price_microcents int8 NOT NULL CHECK (default_price_microcents BETWEEN 0 AND 9007199254740991),
      created_at timestamptz(3) NOT NULL
    )`

  yield* sql`
    CREATE TABLE consumers (
      id uuid PRIMARY KEY,
      name text NOT NULL CHECK (char_length(name) <= 500),
      email text NOT NULL CHECK (char_length(email) <= 320),
      use_case text NOT NULL CHECK (char_length(use_case) <= 20000),
      rate_limit_rpm int4 NOT NULL CHECK (rate_limit_rpm >= 0),
      created_at timestamptz(3) NOT NULL
    )`

  // A key belongs to exactly one owner, who exists; its role follows from which of the two that is.
  yield* sql`
    CREATE TABLE api_keys (
      id uuid PRIMARY KEY,
      consumer_id uuid REFERENCES consumers (id),
      provider_id uuid REFERENCES providers (id),
      owner_id uuid NOT NULL GENERATED ALWAYS AS (COALESCE(consumer_id, provider_id)) STORED,
      label text NOT NULL CHECK (char_length(label) <= 200),
      prefix text NOT NULL CHECK (char_length(prefix) <= 20),
      hash bytea NOT NULL UNIQUE CHECK (octet_length(hash) = 32),
      created_at timestamptz(3) NOT NULL,
      expires_at timestamptz(3),
      revoked_at timestamptz(3),
      CHECK (num_nonnulls(consumer_id, provider_id) = 1)
    )`
  yield* sql`CREATE INDEX api_keys_of_owner ON api_keys (owner_id, created_at DESC, id DESC)`

  // Names and categories sort by their code points ("C"), so that the order is the same in every database.
  yield* sql`
    CREATE TABLE tools (
      id uuid PRIMARY KEY,
      provider_id uuid NOT NULL REFERENCES providers (id),
      tool_name text COLLATE "C" NOT NULL CHECK (char_length(tool_name) BETWEEN 1 AND 256),
      category text COLLATE "C" NOT NULL CHECK (char_length(category) <= 256),
      display_name text NOT NULL CHECK (char_length(display_name) <= 500),
      description text NOT NULL CHECK (char_length(description) <= 20000),
      price_microcents int8 CHECK (price_microcents BETWEEN 0 AND 9007199254740991),
      free_tier_calls int4 CHECK (free_tier_calls >= 0),
      effective_price_microcents int8 NOT NULL CHECK (effective_price_microcents BETWEEN 0 AND 9007199254740991),
      effective_free_tier_calls int4 NOT NULL CHECK (effective_free_tier_calls >= 0),
      price_version int4 NOT NULL CHECK (price_version >= 1),
      input_schema json CHECK (octet_length(input_schema::text) <= 262144),
      output_schema json CHECK (octet_length(output_schema::text) <= 262144),
      billing_policy text NOT NULL CHECK (billing_policy IN ('success', 'valid_output', 'attempt')),
      max_cost_microcents int8 CHECK (max_cost_microcents BETWEEN 0 AND 9007199254740991),
      timeout_ms int4 CHECK (timeout_ms > 0),
      idempotent boolean NOT NULL,
      search tsvector NOT NULL,
      created_at timestamptz(3) NOT NULL,
      updated_at timestamptz(3) NOT NULL,
      UNIQUE (provider_id, tool_name)
    )`
  yield* sql`CREATE INDEX tools_by_name ON tools (tool_name, id)`
  yield* sql`CREATE INDEX tools_by_price ON tools (effective_price_microcents, id)`
  yield* sql`CREATE INDEX tools_by_category_and_name ON tools (category, tool_name, id)`
  yield* sql`CREATE INDEX tools_by_category_and_price ON tools (category, effective_price_microcents, id)`
  yield* sql`CREATE INDEX tools_by_category_and_age ON tools (category, id)`
  // Without a list of pending entries, which every search would have to read through.
  yield* sql`CREATE INDEX tools_by_search ON tools USING gin (search) WITH (fastupdate = off)`

  // How many tools there are, and how often the catalogue has changed: sums over rows that writers choose by their
  // backend, so that few of them wait for each other. A total that was counted at some sum of changes is right for as
  // long as that sum stands.
  yield* sql`
    CREATE TABLE catalog_tallies (
      slot int2 PRIMARY KEY,
      tools int8 NOT NULL,
      changes int8 NOT NULL
    ) WITH (fillfactor = 20)`
  yield* sql`INSERT INTO catalog_tallies (slot, tools, changes) SELECT slot, 0, 0 FROM generate_series(0, 31) AS slot`
  yield* sql`
    CREATE FUNCTION tally_catalog() RETURNS trigger LANGUAGE plpgsql AS $$
    DECLARE
      rows_changed int8 := (SELECT count(*) FROM changed);
    BEGIN
      IF rows_changed > 0 THEN
        UPDATE catalog_tallies
        SET tools = tools + CASE TG_OP WHEN 'INSERT' THEN rows_changed WHEN 'DELETE' THEN -rows_changed ELSE 0 END,
          changes = changes + 1
        WHERE slot = pg_backend_pid() % 32;
      END IF;
      RETURN NULL;
    END $$`
  yield* sql`
    CREATE TRIGGER tools_added AFTER INSERT ON tools
    REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION tally_catalog()`
  yield* sql`
    CREATE TRIGGER tools_changed AFTER UPDATE ON tools
    REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION tally_catalog()`
  yield* sql`
    CREATE TRIGGER tools_removed AFTER DELETE ON tools
    REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION tally_catalog()`

  yield* sql`
    CREATE TABLE tool_prices (
      tool_id uuid NOT NULL REFERENCES tools (id),
      version int4 NOT NULL CHECK (version >= 1),
      price_microcents int8 NOT NULL CHECK (price_microcents BETWEEN 0 AND 9007199254740991),
      free_tier_calls int4 NOT NULL CHECK (free_tier_calls >= 0),
      effective_from timestamptz(3) NOT NULL,
      PRIMARY KEY (tool_id, version)
    )`

  // An answer is missing only while the transaction that took the key is still at work.
  yield* sql`
    CREATE TABLE idempotency_keys (
      scope text NOT NULL CHECK (char_length(scope) <= 200),
      key_hash bytea NOT NULL CHECK (octet_length(key_hash) = 32),
      request_hash bytea NOT NULL CHECK (octet_length(request_hash) = 32),
      sealed_answer text CHECK (octet_length(sealed_answer) <= 4194304),
      created_at timestamptz(3) NOT NULL,
      PRIMARY KEY (scope, key_hash)
    )`
  yield* sql`CREATE INDEX idempotency_keys_by_age ON idempotency_keys (created_at)`
})

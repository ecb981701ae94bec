/**
 * Providers, consumers and their keys. Length checks are the last line of defense: the API's own limits are narrower.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const accounts = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // fee_bps: the provider's own platform fee; null for the default one. From upcoming_fee_from on, if it is set, the fee
  // is upcoming_fee_bps.
  yield* sql`CREATE TABLE providers (
    id uuid PRIMARY KEY,
    name text NOT NULL CHECK (char_length(name) <= 500),
    handle text COLLATE "C" NOT NULL UNIQUE,
    email text NOT NULL CHECK (char_length(email) <= 320),
    endpoint_url text NOT NULL CHECK (char_length(endpoint_url) <= 2048),
    description text NOT NULL CHECK (char_length(description) <= 20000),
    pricing_model text NOT NULL CHECK (pricing_model IN ('per_call', 'per_token', 'free')),
    default_price_microcents int8 NOT NULL CHECK (default_price_microcents BETWEEN 0 AND 9007199254740991),
    features_off text[] CHECK (features_off <@ ARRAY['resources', 'prompts', 'completions', 'logging']
      AND cardinality(features_off) BETWEEN 1 AND 4),
    fee_bps int2 CHECK (fee_bps BETWEEN 0 AND 5000),
    upcoming_fee_bps int2 CHECK (upcoming_fee_bps BETWEEN 0 AND 5000),
    upcoming_fee_from timestamptz(3),
    frozen_at timestamptz(3),
    frozen_reason text CHECK (char_length(frozen_reason) BETWEEN 1 AND 500 AND (frozen_reason IS NULL) = (frozen_at IS NULL)),
    created_at timestamptz(3) NOT NULL
  )`
  yield* sql`CREATE INDEX providers_created ON providers USING brin (created_at)`
  // The operator's search, by the beginning of a text.
  yield* sql`CREATE INDEX providers_by_name ON providers (lower(name) text_pattern_ops)`
  yield* sql`CREATE INDEX providers_frozen ON providers (id) WHERE frozen_at IS NOT NULL`
  yield* sql`CREATE INDEX providers_by_email ON providers (email text_pattern_ops)`

  // Append-only: every fee that a provider has had, in order, as its row in providers had it. The id 0 has the default
  // fee of the nodes.
  yield* sql`CREATE TABLE provider_fees (
    provider_id uuid NOT NULL,
    revision int4 NOT NULL CHECK (revision > 0),
    fee_bps int2 CHECK (fee_bps BETWEEN 0 AND 5000),
    upcoming_fee_bps int2 CHECK (upcoming_fee_bps BETWEEN 0 AND 5000),
    upcoming_fee_from timestamptz(3),
    recorded_at timestamptz(3) NOT NULL,
    recorded_by text NOT NULL CHECK (char_length(recorded_by) BETWEEN 1 AND 100),
    reason text CHECK (char_length(reason) <= 1000),
    PRIMARY KEY (provider_id, revision)
  )`

  // Every handle that was ever given keeps its row. After an erasure only the hash of the handle is left.
  yield* sql`CREATE TABLE provider_handles (
    handle_hash bytea PRIMARY KEY,
    handle text COLLATE "C" UNIQUE CHECK (handle ~ '^[a-z0-9]+(-[a-z0-9]+)*$' AND char_length(handle) BETWEEN 3 AND 32),
    skeleton text COLLATE "C",
    provider_id uuid NOT NULL,
    given_at timestamptz(3) NOT NULL,
    retired boolean NOT NULL DEFAULT false
  )`
  yield* sql`CREATE INDEX provider_handles_alike ON provider_handles (skeleton) WHERE NOT retired`
  yield* sql`CREATE INDEX provider_handles_of ON provider_handles (provider_id)`

  // The default cap is the most that one usage-priced call may cost where neither the call nor its key has a cap.
  yield* sql`CREATE TABLE consumers (
    id uuid PRIMARY KEY,
    name text NOT NULL CHECK (char_length(name) <= 500),
    email text NOT NULL CHECK (char_length(email) <= 320),
    use_case text NOT NULL CHECK (char_length(use_case) <= 20000),
    rate_limit_rpm int4 NOT NULL CHECK (rate_limit_rpm >= 0),
    default_cap_microcents int8 CHECK (default_cap_microcents BETWEEN 0 AND 9007199254740991),
    created_at timestamptz(3) NOT NULL
  )`
  yield* sql`CREATE INDEX consumers_created ON consumers USING brin (created_at)`
  yield* sql`CREATE INDEX consumers_by_name ON consumers (lower(name) text_pattern_ops)`
  yield* sql`CREATE INDEX consumers_by_email ON consumers (email text_pattern_ops)`

  // A key belongs to exactly one owner. The role of the key follows from whether that is a consumer or a provider.
  yield* sql`CREATE TABLE api_keys (
    id uuid PRIMARY KEY,
    consumer_id uuid REFERENCES consumers (id),
    provider_id uuid REFERENCES providers (id),
    owner_id uuid NOT NULL GENERATED ALWAYS AS (COALESCE(consumer_id, provider_id)) STORED,
    label text NOT NULL CHECK (char_length(label) <= 200),
    prefix text NOT NULL CHECK (char_length(prefix) <= 20),
    hash bytea NOT NULL UNIQUE CHECK (octet_length(hash) = 32),
    default_cap_microcents int8 CHECK (default_cap_microcents BETWEEN 0 AND 9007199254740991),
    created_at timestamptz(3) NOT NULL,
    expires_at timestamptz(3),
    revoked_at timestamptz(3),
    CHECK (num_nonnulls(consumer_id, provider_id) = 1),
    CHECK (default_cap_microcents IS NULL OR consumer_id IS NOT NULL)
  )`
  yield* sql`CREATE INDEX api_keys_of_owner ON api_keys (owner_id, created_at DESC, id DESC)`

  yield* sql`CREATE TABLE erasures (
    owner_id uuid PRIMARY KEY,
    role text NOT NULL CHECK (role IN ('consumer', 'provider')),
    erased_by text NOT NULL CHECK (char_length(erased_by) BETWEEN 1 AND 200),
    erased_at timestamptz(3) NOT NULL,
    left_microcents int8 NOT NULL
  )`
})

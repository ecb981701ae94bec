/**
 * Levels below an account (teams, keys with bounds, runs), whose budgets and receipts name them. A hold counts in the period in
 * which its call was opened: what earlier ones left in a later period is recounted.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { closeCalls } from "./ledger/CloseCalls.ts"
import { openCalls } from "./ledger/OpenCalls.ts"

/** The table belongs to the main part. */
export const mainTables = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // hash: of the key of a run. path: the levels above, from the top, and itself. scopes: null where the level bounds none, as for a team. The lists name
  // tools and providers by their id or name.
  yield* sql`CREATE TABLE levels (
    level_id uuid PRIMARY KEY,
    consumer_id uuid NOT NULL REFERENCES consumers (id),
    kind text NOT NULL CHECK (kind IN ('team', 'key', 'run')),
    path uuid[] NOT NULL CHECK (path[cardinality(path)] = level_id AND cardinality(path) <= 10),
    hash bytea UNIQUE CHECK (hash IS NULL OR octet_length(hash) = 32 AND kind = 'run'),
    label text NOT NULL CHECK (char_length(label) <= 200),
    scopes text[] CHECK (scopes <@ ARRAY['call', 'read', 'manage', 'payouts']),
    rate_limit_rpm int4 CHECK (rate_limit_rpm > 0),
    max_price_microcents int8 CHECK (max_price_microcents BETWEEN 0 AND 9007199254740991),
    default_cap_microcents int8 CHECK (default_cap_microcents BETWEEN 0 AND 9007199254740991),
    allowed_tools text[] CHECK (cardinality(allowed_tools) <= 200),
    allowed_providers text[] CHECK (cardinality(allowed_providers) <= 200),
    allowed_categories text[] CHECK (cardinality(allowed_categories) <= 200),
    created_at timestamptz(3) NOT NULL,
    expires_at timestamptz(3),
    disabled_at timestamptz(3),
    ended_at timestamptz(3)
  )`
  yield* sql`CREATE INDEX levels_running ON levels (consumer_id, expires_at) WHERE kind = 'run' AND ended_at IS NULL`
  yield* sql`CREATE INDEX levels_below ON levels USING gin (path)`
  yield* sql`CREATE INDEX levels_of_consumer ON levels (consumer_id, created_at DESC, level_id DESC)`
})

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* mainTables
  yield* sql`ALTER TABLE api_keys ADD COLUMN level_id uuid`
  yield* sql`ALTER TABLE api_keys ADD CONSTRAINT api_keys_level FOREIGN KEY (level_id) REFERENCES levels (level_id)`
  yield* sql`CREATE INDEX api_keys_of_level ON api_keys (level_id) WHERE level_id IS NOT NULL`
  yield* sql`ALTER TABLE budgets ADD COLUMN level_id uuid`
  yield* sql`CREATE INDEX budgets_of_level ON budgets (consumer_id, level_id)`
  yield* sql`ALTER TABLE calls_open ADD COLUMN level_id uuid`
  yield* sql`ALTER TABLE receipts ADD COLUMN level_id uuid`
  yield* sql`CREATE INDEX receipts_of_level ON receipts (consumer_id, level_id, receipt_id) WHERE level_id IS NOT NULL`
  yield* sql`UPDATE budgets b SET held = coalesce(h.held, 0)
    FROM budgets x LEFT JOIN (
      SELECT o.consumer_id, i.budget_id, sum(o.held) AS held
      FROM calls_open o, unnest(o.budget_ids) AS i (budget_id), budgets p
      WHERE p.consumer_id = o.consumer_id AND p.budget_id = i.budget_id AND (p.period = 3 OR p.period_start <= o.opened_at)
      GROUP BY 1, 2) h ON h.consumer_id = x.consumer_id AND h.budget_id = x.budget_id
    WHERE b.consumer_id = x.consumer_id AND b.budget_id = x.budget_id AND b.held <> coalesce(h.held, 0)`
  yield* Effect.all([openCalls, closeCalls], { discard: true })
})

/**
 * Tools, their price versions, and what is counted of them. Queries of the catalog walk indexes of listed tools only, so
 * that withdrawn ones cost nothing.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const catalog = Effect.gen(function* () {
  yield* tools
  yield* toolPrices
  yield* totals
})

const tools = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const listed = sql.literal("WHERE withdrawn_at IS NULL")

  // A draft counts as withdrawn, so that no query of listed tools returns it.
  // The provider's own settings come first, then what is in effect now: the columns that the catalog is searched and sorted
  // by. An announced price version replaces them when its time has come. Text is sorted by code point ("C"), so that the
  // order is the same in every database.
  yield* sql`CREATE TABLE tools (
    id uuid PRIMARY KEY,
    provider_id uuid NOT NULL REFERENCES providers (id),
    tool_name text COLLATE "C" NOT NULL CHECK (char_length(tool_name) BETWEEN 1 AND 256),
    category text COLLATE "C" NOT NULL CHECK (char_length(category) <= 256),
    display_name text NOT NULL CHECK (char_length(display_name) <= 500),
    description text NOT NULL CHECK (char_length(description) <= 20000),
    input_schema json CHECK (octet_length(input_schema::text) <= 262144),
    output_schema json CHECK (octet_length(output_schema::text) <= 262144),
    annotations json CHECK (octet_length(annotations::text) <= 1024),
    timeout_ms int4 CHECK (timeout_ms > 0),
    idempotent boolean NOT NULL,
    price_microcents int8 CHECK (price_microcents BETWEEN 0 AND 9007199254740991),
    max_cost_microcents int8 CHECK (max_cost_microcents BETWEEN 0 AND 9007199254740991),
    free_tier_calls int4 CHECK (free_tier_calls >= 0),
    billing_policy text NOT NULL CHECK (billing_policy IN ('success', 'valid_output', 'attempt')),
    on_cancel text NOT NULL DEFAULT 'finish' CHECK (on_cancel IN ('finish', 'pass')),
    canceled_call_costs text NOT NULL DEFAULT 'price' CHECK (canceled_call_costs IN ('price', 'nothing')),
    effective_price_microcents int8 NOT NULL CHECK (effective_price_microcents BETWEEN 0 AND 9007199254740991),
    effective_max_cost_microcents int8 NOT NULL,
    effective_free_tier_calls int4 NOT NULL CHECK (effective_free_tier_calls >= 0),
    effective_billing_policy text NOT NULL
      CHECK (effective_billing_policy IN ('success', 'valid_output', 'attempt')),
    effective_leaving text NOT NULL CHECK (effective_leaving IN ('free', 'outcome', 'price')),
    price_version int4 NOT NULL CHECK (price_version >= 1),
    price_versions int4 NOT NULL,
    price_announced_at timestamptz(3) NOT NULL,
    price_since timestamptz(3) NOT NULL,
    upcoming_version int4,
    upcoming_from timestamptz(3),
    search tsvector NOT NULL,
    created_at timestamptz(3) NOT NULL,
    updated_at timestamptz(3) NOT NULL,
    withdrawn_at timestamptz(3),
    draft boolean NOT NULL DEFAULT false,
    withdrawn_by_server boolean NOT NULL DEFAULT false,
    UNIQUE (provider_id, tool_name),
    CHECK (effective_max_cost_microcents BETWEEN effective_price_microcents AND 9007199254740991),
    CHECK (price_versions >= price_version),
    CHECK (NOT draft OR withdrawn_at IS NOT NULL),
    CHECK (num_nulls(upcoming_version, upcoming_from) IN (0, 2))
  )`
  yield* sql`CREATE INDEX tools_by_name ON tools (tool_name, id) ${listed}`
  yield* sql`CREATE INDEX tools_by_price ON tools (effective_max_cost_microcents, id) ${listed}`
  yield* sql`CREATE INDEX tools_by_age ON tools (id) ${listed}`
  yield* sql`CREATE INDEX tools_by_category_and_name ON tools (category, tool_name, id) ${listed}`
  yield* sql`CREATE INDEX tools_by_category_and_price ON tools (category, effective_max_cost_microcents, id) ${listed}`
  yield* sql`CREATE INDEX tools_by_category_and_age ON tools (category, id) ${listed}`
  // A list of pending entries would be read through by every search.
  yield* sql`CREATE INDEX tools_by_search ON tools USING gin (search) WITH (fastupdate = off) ${listed}`
  yield* sql`CREATE INDEX tools_by_upcoming_price ON tools (upcoming_from, id) WHERE upcoming_from IS NOT NULL`
  // A call of a withdrawn tool by its name gets 410 instead of 404.
  yield* sql`CREATE INDEX tools_withdrawn_by_name ON tools (tool_name, id) WHERE withdrawn_at IS NOT NULL`
  yield* sql`CREATE INDEX tools_created ON tools USING brin (created_at)`
})

const toolPrices = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE tool_prices (
    tool_id uuid NOT NULL REFERENCES tools (id),
    version int4 NOT NULL CHECK (version >= 1),
    price_microcents int8 NOT NULL CHECK (price_microcents BETWEEN 0 AND 9007199254740991),
    max_cost_microcents int8 NOT NULL,
    free_tier_calls int4 NOT NULL CHECK (free_tier_calls >= 0),
    billing_policy text NOT NULL CHECK (billing_policy IN ('success', 'valid_output', 'attempt')),
    leaving text NOT NULL CHECK (leaving IN ('free', 'outcome', 'price')),
    announced_at timestamptz(3) NOT NULL,
    effective_from timestamptz(3) NOT NULL,
    replaced_at timestamptz(3),
    PRIMARY KEY (tool_id, version),
    CHECK (max_cost_microcents BETWEEN price_microcents AND 9007199254740991)
  )`
})

const totals = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // Counts of listed tools and of changes of the catalog, added up over 32 rows. A writer picks its row by its backend,
  // so that few writers wait for each other. A number of tools stays right while the number of changes is the same.
  yield* sql`CREATE TABLE catalog_tallies (
    slot int2 PRIMARY KEY,
    tools int8 NOT NULL,
    changes int8 NOT NULL
  ) WITH (fillfactor = 20)`
  yield* sql`INSERT INTO catalog_tallies (slot, tools, changes) SELECT slot, 0, 0 FROM generate_series(0, 31) AS slot`
  yield* sql`CREATE FUNCTION tally_catalog() RETURNS trigger LANGUAGE plpgsql AS $$
    DECLARE
      rows_changed int8 := (SELECT count(*) FROM changed);
      listed int8 := (SELECT count(*) FROM changed WHERE withdrawn_at IS NULL);
    BEGIN
      IF rows_changed > 0 THEN
        IF TG_OP = 'UPDATE' THEN
          listed := listed - (SELECT count(*) FROM before WHERE withdrawn_at IS NULL);
        ELSIF TG_OP = 'DELETE' THEN
          listed := -listed;
        END IF;
        UPDATE catalog_tallies SET tools = tools + listed, changes = changes + 1 WHERE slot = pg_backend_pid() % 32;
      END IF;
      RETURN NULL;
    END $$`
  yield* sql`CREATE TRIGGER tools_added AFTER INSERT ON tools
    REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION tally_catalog()`
  yield* sql`CREATE TRIGGER tools_changed AFTER UPDATE ON tools
    REFERENCING OLD TABLE AS before NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION tally_catalog()`
  yield* sql`CREATE TRIGGER tools_removed AFTER DELETE ON tools
    REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION tally_catalog()`

  // Calls of each tool: proxied ones since it was first called, reported ones apart. The sequencer adds to them.
  yield* sql`CREATE TABLE tool_figures (
    tool_id uuid PRIMARY KEY,
    calls int8 NOT NULL,
    successes int8 NOT NULL,
    input_rejected int8 NOT NULL,
    latency_ms int8 NOT NULL,
    reported int8 NOT NULL,
    free_calls int8 NOT NULL DEFAULT 0,
    last_called_at timestamptz
  ) WITH (fillfactor = 70)`
  yield* sql`CREATE TABLE proxied_consumers (consumer_id uuid PRIMARY KEY)`
})

/**
 * Tools that their providers offer no more. What lists tools walks indexes of listed ones alone, so that those that were
 * withdrawn cost it nothing, and the tally counts listed ones.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

const LISTED = "WHERE withdrawn_at IS NULL"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const listed = sql.literal(LISTED)

  yield* sql`ALTER TABLE tools ADD COLUMN withdrawn_at timestamptz(3)`

  yield* sql`DROP INDEX tools_by_name, tools_by_price, tools_by_category_and_name, tools_by_category_and_price,
    tools_by_category_and_age, tools_by_search`
  yield* sql`CREATE INDEX tools_by_name ON tools (tool_name, id) ${listed}`
  yield* sql`CREATE INDEX tools_by_price ON tools (effective_price_microcents, id) ${listed}`
  yield* sql`CREATE INDEX tools_by_age ON tools (id) ${listed}`
  yield* sql`CREATE INDEX tools_by_category_and_name ON tools (category, tool_name, id) ${listed}`
  yield* sql`CREATE INDEX tools_by_category_and_price ON tools (category, effective_price_microcents, id) ${listed}`
  yield* sql`CREATE INDEX tools_by_category_and_age ON tools (category, id) ${listed}`
  yield* sql`CREATE INDEX tools_by_search ON tools USING gin (search) WITH (fastupdate = off) ${listed}`
  // Whoever calls by a name that is listed nowhere is told that it was.
  yield* sql`CREATE INDEX tools_withdrawn_by_name ON tools (tool_name, id) WHERE withdrawn_at IS NOT NULL`

  // An update may take a tool off the list or bring it back: what was listed before goes off the sum.
  yield* sql`
    CREATE OR REPLACE FUNCTION tally_catalog() RETURNS trigger LANGUAGE plpgsql AS $$
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
  yield* sql`DROP TRIGGER tools_changed ON tools`
  yield* sql`
    CREATE TRIGGER tools_changed AFTER UPDATE ON tools
    REFERENCING OLD TABLE AS before NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION tally_catalog()`
})

/**
 * The maximum and the billing policy belong to a tool's price version. A version may be announced for a time to come;
 * the columns that the catalog is searched and sorted by take it over when that time has come.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  yield* sql`ALTER TABLE tool_prices ADD COLUMN max_cost_microcents int8, ADD COLUMN billing_policy text,
    ADD COLUMN announced_at timestamptz(3), ADD COLUMN replaced_at timestamptz(3)`
  // Maximum and policy of the older versions were not kept: they get the tool's own.
  yield* sql`
    UPDATE tool_prices p SET max_cost_microcents = GREATEST(p.price_microcents, t.max_cost_microcents),
      billing_policy = t.billing_policy, announced_at = p.effective_from
    FROM tools t WHERE t.id = p.tool_id`
  yield* sql`ALTER TABLE tool_prices ALTER COLUMN max_cost_microcents SET NOT NULL,
    ALTER COLUMN billing_policy SET NOT NULL, ALTER COLUMN announced_at SET NOT NULL,
    ADD CHECK (max_cost_microcents BETWEEN price_microcents AND 9007199254740991),
    ADD CHECK (billing_policy IN ('success', 'valid_output', 'attempt'))`

  yield* sql`ALTER TABLE tools ADD COLUMN effective_max_cost_microcents int8, ADD COLUMN effective_billing_policy text,
    ADD COLUMN price_versions int4, ADD COLUMN price_announced_at timestamptz(3), ADD COLUMN price_since timestamptz(3),
    ADD COLUMN upcoming_version int4, ADD COLUMN upcoming_from timestamptz(3)`
  yield* sql`
    UPDATE tools t SET effective_max_cost_microcents = GREATEST(t.effective_price_microcents, t.max_cost_microcents),
      effective_billing_policy = t.billing_policy, price_versions = t.price_version,
      price_announced_at = COALESCE(p.announced_at, t.updated_at), price_since = COALESCE(p.effective_from, t.updated_at)
    FROM tools o LEFT JOIN tool_prices p ON p.tool_id = o.id AND p.version = o.price_version
    WHERE o.id = t.id`
  yield* sql`ALTER TABLE tools ALTER COLUMN effective_max_cost_microcents SET NOT NULL,
    ALTER COLUMN effective_billing_policy SET NOT NULL, ALTER COLUMN price_versions SET NOT NULL,
    ALTER COLUMN price_announced_at SET NOT NULL, ALTER COLUMN price_since SET NOT NULL,
    ADD CHECK (effective_max_cost_microcents BETWEEN effective_price_microcents AND 9007199254740991),
    ADD CHECK (effective_billing_policy IN ('success', 'valid_output', 'attempt')),
    ADD CHECK (price_versions >= price_version),
    ADD CHECK (num_nulls(upcoming_version, upcoming_from) IN (0, 2))`

  // The catalog is sorted by what one call may cost.
  yield* sql`DROP INDEX tools_by_price, tools_by_category_and_price`
  yield* sql`CREATE INDEX tools_by_price ON tools (effective_max_cost_microcents, id) WHERE withdrawn_at IS NULL`
  yield* sql`CREATE INDEX tools_by_category_and_price ON tools (category, effective_max_cost_microcents, id)
    WHERE withdrawn_at IS NULL`
  yield* sql`CREATE INDEX tools_by_upcoming_price ON tools (upcoming_from, id) WHERE upcoming_from IS NOT NULL`
})

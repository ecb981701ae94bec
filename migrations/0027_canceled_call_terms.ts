/**
 * What a canceled call costs belongs to a tool's price version, like its price, maximum, free tier and billing policy.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  yield* sql`ALTER TABLE tools ADD COLUMN effective_leaving text`
  yield* sql`
    UPDATE tools SET effective_leaving = CASE
      WHEN on_cancel = 'finish' THEN 'outcome' WHEN canceled_call_costs = 'price' THEN 'price' ELSE 'free' END`
  yield* sql`ALTER TABLE tools ALTER COLUMN effective_leaving SET NOT NULL,
    ADD CHECK (effective_leaving IN ('free', 'outcome', 'price'))`

  // The older versions did not keep it: they get the tool's own.
  yield* sql`ALTER TABLE tool_prices ADD COLUMN leaving text`
  yield* sql`UPDATE tool_prices p SET leaving = t.effective_leaving FROM tools t WHERE t.id = p.tool_id`
  yield* sql`ALTER TABLE tool_prices ALTER COLUMN leaving SET NOT NULL,
    ADD CHECK (leaving IN ('free', 'outcome', 'price'))`
})

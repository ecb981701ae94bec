/**
 * A month that was closed too early gets supplements: each closing of a month is a part, with documents of its own for what
 * the parts before it left out.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  yield* sql`ALTER TABLE invoice_months ADD COLUMN part int4 NOT NULL DEFAULT 1`
  yield* sql`ALTER TABLE invoice_usage ADD COLUMN part int4 NOT NULL DEFAULT 1`
  yield* sql`ALTER TABLE invoice_usage DROP CONSTRAINT invoice_usage_pkey`
  yield* sql`ALTER TABLE invoice_usage
    ADD PRIMARY KEY (month, consumer_id, tool_id, provider_id, price_version, part)`
  yield* sql`ALTER TABLE invoice_movements ADD COLUMN part int4 NOT NULL DEFAULT 1`
  yield* sql`ALTER TABLE invoice_movements DROP CONSTRAINT invoice_movements_pkey`
  yield* sql`ALTER TABLE invoice_movements ADD PRIMARY KEY (month, role, owner_id, kind, part)`
  yield* sql`ALTER TABLE invoices ADD COLUMN part int4 NOT NULL DEFAULT 1`
  yield* sql`DROP INDEX invoices_once`
  yield* sql`CREATE UNIQUE INDEX invoices_once ON invoices (month, kind, owner_id, part) WHERE corrects IS NULL`
})

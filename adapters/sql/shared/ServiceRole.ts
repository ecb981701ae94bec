/**
 * The privileges of the service's role, which protect append-only tables. The role that owns the tables runs the
 * migrations. The service connects as a second role that may read and add their rows, but not change or delete them.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const APPEND_ONLY_TABLES = ["audit_trail", "invoices", "posted_transfers", "provider_fees", "receipts"] as const

export const currentRole = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<{ readonly role: string }>`SELECT current_user::text AS role`
  return row!.role
})

/** Run as the owner of the tables, after migrations. Nodes that start together wait for each other. */
export const grantTo = Effect.fnUntraced(function* (role: string) {
  const sql = yield* SqlClient.SqlClient
  yield* sql.withTransaction(
    Effect.gen(function* () {
      yield* sql`LOCK TABLE agent_tool_billing_migrations IN ACCESS EXCLUSIVE MODE`
      const owned = yield* sql<{ readonly schema: string; readonly name: string }>`
        SELECT schemaname::text AS schema, tablename::text AS name FROM pg_tables
        WHERE schemaname = current_schema() AND pg_has_role(tableowner, 'USAGE')`
      yield* sql`GRANT USAGE ON SCHEMA ${sql(owned[0]!.schema)} TO ${sql(role)}`
      yield* sql`GRANT SELECT, INSERT, UPDATE, DELETE ON ${sql.csv(owned.map(({ name }) => sql`${sql(name)}`))} TO ${sql(role)}`
      yield* sql`GRANT SELECT ON transfers, account_totals, usage_totals TO ${sql(role)}`
      yield* sql`REVOKE UPDATE, DELETE, TRUNCATE ON ${sql.csv(APPEND_ONLY_TABLES.map((name) => sql`${sql(name)}`))}
        FROM ${sql(role)}`
    })
  )
})

/** The append-only tables whose rows the current role may change or delete. A superuser may always. */
export const changeableTables = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{ readonly name: string }>`
    SELECT name FROM unnest(${[...APPEND_ONLY_TABLES]}::text[]) name
    WHERE has_any_column_privilege(to_regclass(name)::oid, 'UPDATE') OR has_table_privilege(to_regclass(name)::oid, 'DELETE')
      OR has_table_privilege(to_regclass(name)::oid, 'TRUNCATE')
    ORDER BY name`
  return rows.map(({ name }) => name)
})

/** Logs one line at every start where append-only is not enforced. */
export const warnIfChangeable = Effect.gen(function* () {
  const tables = yield* changeableTables
  if (tables.length > 0) {
    yield* Effect.logWarning(
      `The role "${yield* currentRole}" may change or delete rows of ${tables.join(", ")}, which are append-only. ` +
        'Let the service connect as a role that does not own them: see "Two database roles" in docs/operations.md.'
    )
  }
})

/**
 * Whether a database can hold the service's data: its encoding, that it is no standby, and the privileges of its role.
 * Runs before the schema is touched, so that the error names the reason and not the first statement that fails.
 */
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"

/** A database that the service cannot run on, and why. */
export class DatabaseUnfit extends Schema.TaggedError<DatabaseUnfit>()("DatabaseUnfit", {
  problem: Schema.String,
  /** Default: `DATABASE_URL`. */
  setting: Schema.optionalKey(Schema.String)
}) {
  override get message() {
    return `The database of ${this.setting ?? "DATABASE_URL"} cannot be used: ${this.problem}`
  }
}

interface DatabaseState {
  readonly name: string
  readonly encoding: string
  readonly role: string
  readonly schema: string | null
  readonly may_create: boolean
  readonly is_standby: boolean
  /** Tables that the role may not read and change. */
  readonly closed: ReadonlyArray<string>
}

const TABLES_NAMED_MAX = 5

export const checkDatabase = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [state] = yield* sql<DatabaseState>`
    SELECT current_database()::text AS name, current_setting('server_encoding') AS encoding, current_user::text AS role,
      current_schema()::text AS schema, pg_is_in_recovery() AS is_standby,
      coalesce(has_schema_privilege(current_schema(), 'CREATE'), false) AS may_create,
      ARRAY(SELECT tablename::text FROM pg_tables WHERE schemaname = current_schema()
        AND NOT has_table_privilege(format('%I.%I', schemaname, tablename), 'SELECT')
        OR schemaname = current_schema()
        AND NOT has_table_privilege(format('%I.%I', schemaname, tablename), 'INSERT')
        ORDER BY 1) AS closed`
  const problem = problemOf(state!)
  if (problem !== undefined) return yield* new DatabaseUnfit({ problem })
})

export const problemOf = ({
  closed,
  encoding,
  is_standby,
  may_create,
  name,
  role,
  schema
}: DatabaseState): string | undefined => {
  if (encoding !== "UTF8") {
    return `"${name}" has the encoding ${encoding}, and UTF8 is required. Create one with \`CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0\`.`
  }
  if (is_standby)
    return `"${name}" is on a standby, which is read-only. Name the primary, or all servers and target_session_attrs=read-write.`
  if (schema === null) {
    return `the role "${role}" may use none of the schemas in its search_path. Grant it USAGE and CREATE on one.`
  }
  if (!may_create) {
    return `the role "${role}" may not create tables in the schema "${schema}", which migrations need. Run \`GRANT CREATE ON SCHEMA ${schema} TO ${role}\`, or set MIGRATION_DATABASE_URL to the role that owns the tables.`
  }
  return closed.length === 0
    ? undefined
    : `the role "${role}" may not read and write the tables ${closed.slice(0, TABLES_NAMED_MAX).join(", ")}${closed.length > TABLES_NAMED_MAX ? " and others" : ""}. Make it their owner or grant it SELECT, INSERT, UPDATE and DELETE.`
}

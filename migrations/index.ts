/**
 * The migrations by number and name. Pending ones run in one transaction; nodes that start together wait for each other.
 */
import { Effect, Record, Schema } from "effect"
import { Migrator, SqlClient, type SqlError } from "effect/sql"
import baseline from "./0001_baseline.ts"
import { patiently, type SchemaBusy, yielding } from "./YieldingLocks.ts"

/**
 * Of the baseline's SQL, which `test/house/baseline.test.ts` compares. Until the first release the baseline is edited in
 * place: a database of an earlier one has another name of it, and is rejected. Afterwards it must not change.
 */
export const BASELINE_DIGEST = "83a77e57bce7"

const migrations = {
  [`0001_baseline_${BASELINE_DIGEST}`]: baseline
}

/** The names of all migrations, in the order in which they are applied. */
export const names: ReadonlyArray<string> = Object.keys(migrations).toSorted()

/** The number of the newest migration, which a current schema has. */
export const latestVersion: number = Number.parseInt(names.at(-1)!, 10)

/** The database was written before the first release, by migrations that the baseline has replaced. */
export class SchemaNotUpgradable extends Schema.TaggedError<SchemaNotUpgradable>()("SchemaNotUpgradable", {
  database: Schema.String,
  version: Schema.Int
}) {
  override get message(): string {
    return `The database "${this.database}" has schema version ${this.version} from before the first release, which cannot be upgraded; it was left unchanged. Set DATA_DIR or DATABASE_URL to an empty data folder or database, or run the version that wrote it.`
  }
}

/**
 * A migration with this prefix in its name changes what older releases rely on: they reject the database from then on. Any
 * other migration only adds, so that nodes of the release before go on.
 */
const BREAKING = "breaking_"

/** A newer release wrote the schema, in a way that this one cannot use. */
export class SchemaTooNew extends Schema.TaggedError<SchemaTooNew>()("SchemaTooNew", {
  database: Schema.String,
  version: Schema.Int,
  known: Schema.Int
}) {
  override get message(): string {
    return `The database "${this.database}" has schema version ${this.version}, which this release cannot use: it knows versions up to ${this.known}. Run the release that migrated it or a newer one. To go back, restore a backup from before the upgrade (docs/upgrade.md).`
  }
}

/** Fails on a database that another line of migrations wrote, or a newer release that this one cannot follow. `run` does this first. */
export const rejectForeignSchema = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  // A role that may not read the table yet leaves the question to the owner.
  const [found] = yield* sql<{ readonly database: string; readonly is_readable: boolean | null }>`
    SELECT current_database()::text AS database,
      has_table_privilege(to_regclass('effect_sql_migrations')::oid, 'SELECT') AS is_readable`
  if (found!.is_readable !== true) return
  const applied = yield* sql<{ readonly id: number; readonly name: string }>`
    SELECT migration_id AS id, name FROM effect_sql_migrations ORDER BY migration_id`
  if (applied.some(({ id, name }) => id <= latestVersion && names[id - 1]?.slice("0001_".length) !== name)) {
    return yield* new SchemaNotUpgradable({ database: found!.database, version: applied.at(-1)!.id })
  }
  const breaking = applied.findLast(({ id, name }) => id > latestVersion && name.startsWith(BREAKING))
  if (breaking !== undefined) {
    return yield* new SchemaTooNew({ database: found!.database, version: breaking.id, known: latestVersion })
  }
})

/** Brings the schema up to date and returns what was applied. Running it again does nothing. */
export const run: Effect.Effect<
  ReadonlyArray<readonly [id: number, name: string]>,
  SchemaBusy | SchemaNotUpgradable | SchemaTooNew | Migrator.MigrationError | SqlError.SqlError,
  SqlClient.SqlClient
> = Effect.andThen(
  rejectForeignSchema,
  patiently(Migrator.make({})({ loader: Migrator.fromRecord(Record.map(migrations, yielding)) }))
)

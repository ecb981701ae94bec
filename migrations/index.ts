/**
 * The migrations by number and name. Pending ones run in one transaction; nodes that start together wait for each other.
 */
import { Effect, Record, Schema } from "effect"
import { Migrator, SqlClient, type SqlError } from "effect/sql"
import baseline from "./0001_baseline.ts"
import walletSplits from "./0002_wallet_splits.ts"
import effectiveOutputSchema from "./0003_effective_output_schema.ts"
import disputeReference from "./0004_dispute_reference.ts"
import bothEngines from "./0005_both_engines.ts"
import failedReceipts from "./0006_failed_receipts.ts"
import providerUsage from "./0007_provider_usage.ts"
import levels from "./0008_levels.ts"
import { patiently, type SchemaBusy, yielding } from "./YieldingLocks.ts"

/**
 * Names the baseline, in every database since the first release. It is the digest of what the baseline was then: since, the
 * functions of calls went to the newest migration that replaces them. `test/house/baseline.test.ts` holds the rest.
 */
export const BASELINE_DIGEST = "83a77e57bce7"

const migrations = {
  [`0001_baseline_${BASELINE_DIGEST}`]: baseline,
  "0002_wallet_splits": walletSplits,
  "0003_effective_output_schema": effectiveOutputSchema,
  "0004_dispute_reference": disputeReference,
  "0005_both_engines": bothEngines,
  "0006_failed_receipts": failedReceipts,
  "0007_provider_usage": providerUsage,
  "0008_levels": levels
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

/** The table of applied migrations: not that of Effect's migrator by default, which a host program may use for its own. */
const TABLE = "agent_tool_billing_migrations"

/** Builds from before 2026-11-28 recorded their migrations there, and a host program's migrator records its own. */
const SHARED_TABLE = "effect_sql_migrations"

const BASELINE = names[0]!.slice("0001_".length)

/** The first migrations of databases from before the first release. */
const BEFORE_FIRST_RELEASE = /^(?:accounts_and_catalogue|baseline(?:_[0-9a-f]{12})?)$/u

interface Applied {
  readonly id: number
  readonly name: string
}

/** Returns what a table lists, in order; nothing if it does not exist, or the role may not read it yet. */
const appliedIn = Effect.fnUntraced(function* (table: string) {
  const sql = yield* SqlClient.SqlClient
  const [found] = yield* sql<{ readonly is_readable: boolean | null }>`
    SELECT has_table_privilege(to_regclass(${table})::oid, 'SELECT') AS is_readable`
  if (found!.is_readable !== true) return []
  return yield* sql<Applied>`SELECT migration_id AS id, name FROM ${sql(table)} ORDER BY migration_id`
})

/** Fails on a database that another line of migrations wrote, or a newer release that this one cannot follow. `run` does this first. */
export const rejectForeignSchema = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [found] = yield* sql<{ readonly database: string; readonly has_receipts: boolean }>`
    SELECT current_database()::text AS database, to_regclass('receipts') IS NOT NULL AS has_receipts`
  const { database, has_receipts } = found!
  const own = yield* appliedIn(TABLE)
  const unknown = own.find(({ id, name }) => id <= latestVersion && names[id - 1]?.slice("0001_".length) !== name)
  const shared = own.length === 0 && has_receipts ? yield* appliedIn(SHARED_TABLE) : []
  const isOlder = shared[0] !== undefined && shared[0].name !== BASELINE && BEFORE_FIRST_RELEASE.test(shared[0].name)
  if (unknown !== undefined || isOlder) {
    return yield* new SchemaNotUpgradable({ database, version: [...own, ...shared].at(-1)!.id })
  }
  const breaking = own.findLast(({ id, name }) => id > latestVersion && name.startsWith(BREAKING))
  if (breaking !== undefined) {
    return yield* new SchemaTooNew({ database, version: breaking.id, known: latestVersion })
  }
})

/**
 * A build from before 2026-11-28 recorded the baseline in the shared table. That row moves to our own table, so that the first
 * migration of a host program is no longer taken for applied. A shared table without other rows goes too.
 */
const carryOver = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const shared = yield* appliedIn(SHARED_TABLE)
  if (shared[0]?.id !== 1 || shared[0].name !== BASELINE) return
  yield* sql`CREATE TABLE ${sql(TABLE)} (
    migration_id integer PRIMARY KEY, created_at timestamptz NOT NULL DEFAULT now(), name text NOT NULL)`
  yield* sql`WITH moved AS (DELETE FROM ${sql(SHARED_TABLE)} WHERE migration_id = 1 RETURNING *)
    INSERT INTO ${sql(TABLE)} (migration_id, created_at, name) SELECT migration_id, created_at, name FROM moved`
  if (shared.length === 1) yield* sql`DROP TABLE ${sql(SHARED_TABLE)}`
  else
    yield* Effect.logWarning(
      `${SHARED_TABLE} listed a migration of this service as number 1, so a migration 1 of your own program was skipped. If it has one, apply it by hand.`
    )
})

const migrate = Migrator.make({})({
  table: TABLE,
  loader: Migrator.fromRecord(Record.map(migrations, yielding))
})

/** Locks the transaction that migrates, so that nodes that start together wait for each other. */
const LOCK = 4_700_038

/** Brings the schema up to date in one transaction, and returns what was applied. Running it again does nothing. */
export const run: Effect.Effect<
  ReadonlyArray<readonly [id: number, name: string]>,
  SchemaBusy | SchemaNotUpgradable | SchemaTooNew | Migrator.MigrationError | SqlError.SqlError,
  SqlClient.SqlClient
> = patiently(
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    sql`SELECT pg_advisory_xact_lock(${LOCK})`.pipe(
      Effect.andThen(rejectForeignSchema),
      Effect.andThen(carryOver),
      Effect.andThen(migrate),
      sql.withTransaction
    )
  )
)

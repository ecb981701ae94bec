/**
 * Every migration by number and name. Pending ones run in one transaction; concurrent starters wait for each other.
 */
import { type Effect } from "effect"
import { Migrator, type SqlClient, type SqlError } from "effect/sql"
import accountsAndCatalogue from "./0001_accounts_and_catalogue.ts"
import ledger from "./0002_ledger.ts"
import grants from "./0003_grants.ts"
import payments from "./0004_payments.ts"

const migrations = {
  "0001_accounts_and_catalogue": accountsAndCatalogue,
  "0002_ledger": ledger,
  "0003_grants": grants,
  "0004_payments": payments
}

export const names: ReadonlyArray<string> = Object.keys(migrations).toSorted()

export const latestVersion: number = Number.parseInt(names.at(-1)!, 10)

/** Brings the schema up to date; says what was applied now. Again: nothing. */
export const run: Effect.Effect<
  ReadonlyArray<readonly [id: number, name: string]>,
  Migrator.MigrationError | SqlError.SqlError,
  SqlClient.SqlClient
> = Migrator.make({})({ loader: Migrator.fromRecord(migrations) })

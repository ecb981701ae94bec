/**
 * The migrations by number and name. Pending ones run in one transaction; nodes that start together wait for each other.
 */
import { type Effect } from "effect"
import { Migrator, type SqlClient, type SqlError } from "effect/sql"
import baseline from "./0001_baseline.ts"

const migrations = {
  "0001_baseline": baseline
}

export const names: ReadonlyArray<string> = Object.keys(migrations).toSorted()

export const latestVersion: number = Number.parseInt(names.at(-1)!, 10)

/** Brings the schema up to date and returns what was applied. Running it again does nothing. */
export const run: Effect.Effect<
  ReadonlyArray<readonly [id: number, name: string]>,
  Migrator.MigrationError | SqlError.SqlError,
  SqlClient.SqlClient
> = Migrator.make({})({ loader: Migrator.fromRecord(migrations) })

/**
 * `agent-tool-billing/postgres`: every store, or those of the ledger alone, on one PostgreSQL. Needs the package `@effect/sql-pg`.
 */
export { type Database, type HostDatabase } from "../layers/Database.ts"
export { postgresLedger, postgresStores } from "../layers/PostgresStores.ts"

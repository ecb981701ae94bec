/**
 * `agent-tool-billing/postgres`: every store on one PostgreSQL. Needs the package `@effect/sql-pg`.
 */
export { type Database } from "../layers/Database.ts"
export { postgresStores } from "../layers/PostgresStores.ts"

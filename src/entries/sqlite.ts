/**
 * `agent-tool-billing/sqlite`: a ledger in one SQLite file for programs that use `Ledger` alone, on Node's own `node:sqlite`.
 */
export { layer as sqliteLedger } from "../../adapters/sqlite/SqliteLedger.ts"

/**
 * Figures and lists of accounts with millions of calls. `usage_hourly` has a row for each consumer and hour, which are
 * millions for a provider: its usage is kept by day, too. `count_receipts` adds to both from now on, and `roll_up_usage` adds
 * what was counted before, a day at a time. Calls that were reported late have an index, so that the calls of a day are not
 * looked for among those of the next week. Receipts of old months may move to files.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { countReceipts, MARKET } from "./ledger/CountReceipts.ts"

/** They belong to the main part, beside `account_balances`. */
export const mainTables = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE provider_usage (
    provider_id uuid NOT NULL, day timestamptz NOT NULL, tool_id uuid NOT NULL,
    calls int8 NOT NULL, successes int8 NOT NULL, timeouts int8 NOT NULL, spend int8 NOT NULL, fee int8 NOT NULL,
    latency_ms int8 NOT NULL, request_bytes int8 NOT NULL, response_bytes int8 NOT NULL, tokens_input int8 NOT NULL,
    tokens_output int8 NOT NULL,
    PRIMARY KEY (provider_id, day, tool_id)
  ) WITH (fillfactor = 70)`

  // Months whose receipts are in files, and what these add up to by account and lot.
  yield* sql`CREATE TABLE receipt_archives (
    month text PRIMARY KEY, manifest text NOT NULL, first_id uuid NOT NULL, last_id uuid NOT NULL,
    archived_at timestamptz(3) NOT NULL
  )`
  yield* sql`CREATE TABLE archived_totals (
    month text NOT NULL, account int2 NOT NULL, owner_id uuid NOT NULL, lot date NOT NULL,
    credits int8 NOT NULL, debits int8 NOT NULL, transfers int8 NOT NULL,
    PRIMARY KEY (month, account, owner_id, lot)
  )`
})

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* mainTables
  yield* countReceipts
  yield* sql`CREATE INDEX receipts_late ON receipts (receipt_id) INCLUDE (consumer_id, provider_id, called_at)
    WHERE created_at - called_at > interval '6 minutes'`
  // A tool is of one provider: without this, the planner takes the calls of a consumer to a tool for too few.
  yield* sql`CREATE STATISTICS receipts_tools (dependencies) ON provider_id, tool_id FROM receipts`
  const [called] = yield* sql`SELECT 1 FROM receipts LIMIT 1`
  if (called !== undefined) yield* sql`ANALYZE receipts`
  const known = called === undefined ? "-infinity" : "infinity"
  yield* sql.unsafe(`INSERT INTO provider_usage VALUES (${MARKET}, '${known}', ${MARKET}${", 0".repeat(10)})`)
})

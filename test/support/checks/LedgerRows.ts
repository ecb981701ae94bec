/** The rows of calls as sorted text, to compare two databases. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

const OF_CONSUMERS = ["wallets", "receipts", "call_idempotency", "usage_hourly", "free_tier_usage", "budgets"]

/** All calls are counted first. Balances are totals over lanes; no free calls left equals no tier. */
export const rowsOf = Effect.fnUntraced(function* (consumers: ReadonlyArray<string>, providers: ReadonlyArray<string>) {
  const sql = yield* SqlClient.SqlClient
  const rows: Record<string, ReadonlyArray<string>> = {}
  const take = (name: string, found: ReadonlyArray<{ readonly row: string }>) => {
    rows[name] = found.map(({ row }) => row)
  }
  yield* sql`SELECT count_receipts(1000000)`
  for (const table of OF_CONSUMERS) {
    take(
      table,
      yield* sql<{ readonly row: string }>`
        SELECT t::text AS row FROM ${sql(table)} t WHERE t.consumer_id IN ${sql.in(consumers)} ORDER BY 1`
    )
  }
  take(
    "calls_open",
    yield* sql<{ readonly row: string }>`
      SELECT (to_jsonb(t) || jsonb_build_object('free_calls_left', nullif(t.free_calls_left, 0)))::text AS row
      FROM calls_open t WHERE t.consumer_id IN ${sql.in(consumers)} ORDER BY 1`
  )
  take(
    "account_balances",
    yield* sql<{ readonly row: string }>`
      SELECT (owner_id, account, sum(credits), sum(debits))::text AS row FROM account_balances
      WHERE account = 3 OR owner_id IN ${sql.in(providers)} GROUP BY owner_id, account ORDER BY 1`
  )
  return rows
})

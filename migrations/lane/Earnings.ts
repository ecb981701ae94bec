/**
 * What calls earned for their providers and the platform, on its way from the receipts into `account_balances`. What the
 * numbers in `account` mean is in `adapters/sql/ledger/LedgerCodes.ts`.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const earnings = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // The same amounts as in the view `transfers`. Only calls have lane 1.
  yield* sql`CREATE FUNCTION earnings_of(provider_id uuid, settled_on date, cost int8, fee int8)
  RETURNS SETOF account_balances LANGUAGE sql STABLE AS $$
    SELECT part.owner_id, part.account, 1::smallint, part.day, part.amount, 0::int8 FROM (VALUES
      (provider_id, 2::smallint, settled_on, cost - fee),
      (uuid '00000000-0000-0000-0000-000000000000', 3::smallint, date '1970-01-01', fee)
    ) AS part (owner_id, account, day, amount) WHERE part.amount > 0
  $$`

  // The balances with every completed call. Read instead of `account_balances` for the accounts that calls credit: its rows
  // follow about a second later.
  yield* sql`CREATE VIEW account_totals AS
    SELECT owner_id, account, lane, day, credits, debits FROM account_balances
    UNION ALL
    SELECT e.owner_id, e.account, e.lane, e.day, e.credits, e.debits
    FROM receipts_unlogged w CROSS JOIN LATERAL usage_of(w.receipt_ids) u
    CROSS JOIN LATERAL earnings_of(u.provider_id, u.settled_on, u.spend, u.fee) e WHERE NOT w.counted`
})

/**
 * A provider's balance is kept in lots, one per settlement day: `account_balances.day` and `transfers.lot`. Balances of other
 * accounts have the day 1970-01-01, and so has what providers had before. Calls carry no lot: theirs is the day on which
 * they were recorded.
 *
 * New codes. Account: 12 provider_frozen, 13 loss; 9 and 10 are no longer used. Kind: 10 freeze, 11 deposit, 12 withdrawal,
 * 13 processor_fee, 14 loss_cover.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { closeCalls } from "./ledger/CloseCalls.ts"
import { closeOneCall } from "./ledger/CloseOneCall.ts"
import { settleCalls } from "./ledger/SettleCalls.ts"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  yield* sql`ALTER TABLE account_balances ADD COLUMN day date NOT NULL DEFAULT '1970-01-01'`
  yield* sql`ALTER TABLE account_balances DROP CONSTRAINT account_balances_pkey`
  yield* sql`ALTER TABLE account_balances ADD PRIMARY KEY (owner_id, account, day, lane)`

  // The default fills the rows that are there, then goes.
  yield* sql`ALTER TABLE transfers ADD COLUMN lot date DEFAULT '1970-01-01'`
  yield* sql`ALTER TABLE transfers ALTER COLUMN lot DROP DEFAULT`

  yield* closeCalls
  yield* closeOneCall
  yield* settleCalls
})

/**
 * The split of a wallet in a paid part and credit: see `domain/ledger/PaidFunds.ts`.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** The table belongs to the lane part, beside `posted_transfers`. */
export const laneTables = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // One row for each posting, from the consumer's first credit on. What calls have spent since the last one follows from the
  // wallet, so calls neither read nor write this table.
  yield* sql`CREATE TABLE wallet_splits (
    consumer_id uuid NOT NULL,
    place int4 NOT NULL,
    paid int8 NOT NULL,
    credit int8 NOT NULL CHECK (credit >= 0),
    spent int8 NOT NULL CHECK (spent >= 0),
    PRIMARY KEY (consumer_id, place)
  )`
})

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* laneTables
  yield* sql`ALTER TABLE claims ADD COLUMN credit int8 NOT NULL DEFAULT 0 CHECK (credit >= 0 AND credit <= amount)`

  // Credit from before: as much of it as can still be there. Paid funds are spent first, so no more than that was withdrawable.
  yield* sql`INSERT INTO wallet_splits (consumer_id, place, paid, credit, spent)
    SELECT w.consumer_id, 1, w.credits - w.debits - c.remaining, c.remaining, 0
    FROM wallets w
    JOIN (SELECT consumer_id, sum(amount)::int8 AS given FROM posted_transfers
      WHERE debit = 3 AND credit IN (1, 11) AND kind IN (7, 9) GROUP BY consumer_id) g USING (consumer_id)
    CROSS JOIN LATERAL (SELECT least(g.given, w.credits - w.debits) AS remaining) c`
})

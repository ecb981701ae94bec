/**
 * The balances of consumers.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const ledger = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // The only balance that a call locks. It changes twice per call: free space on the page keeps those updates HOT. Every
  // statement parses the table's CHECK constraints again, which takes 5 us each: a frozen wallet has frozen_at and
  // frozen_reason, but no constraint says so.
  yield* sql`CREATE TABLE wallets (
    consumer_id uuid PRIMARY KEY,
    credits int8 NOT NULL DEFAULT 0,
    debits int8 NOT NULL DEFAULT 0,
    held int8 NOT NULL DEFAULT 0,
    budgeted boolean NOT NULL DEFAULT false,
    frozen boolean NOT NULL DEFAULT false,
    frozen_at timestamptz(3),
    frozen_reason text,
    frozen_by_operator boolean NOT NULL DEFAULT false,
    CONSTRAINT wallets_never_below_zero CHECK (debits >= 0 AND held >= 0 AND credits - debits - held >= 0)
  ) WITH (fillfactor = 50)`
  yield* sql`CREATE INDEX wallets_frozen ON wallets (consumer_id) WHERE frozen`
})

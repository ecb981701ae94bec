/**
 * Withdrawals of unspent funds: one refund at the processor per load that brought the money. What was refunded of a load.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  yield* sql`CREATE TABLE withdrawals (
    withdrawal_id uuid PRIMARY KEY,
    consumer_id uuid NOT NULL REFERENCES consumers (id),
    amount_cents int8 NOT NULL CHECK (amount_cents > 0),
    created_at timestamptz(3) NOT NULL
  )`
  yield* sql`CREATE INDEX withdrawals_of_consumer ON withdrawals (consumer_id, created_at DESC, withdrawal_id DESC)`
  yield* sql`CREATE TABLE withdrawal_parts (
    part_id uuid PRIMARY KEY,
    withdrawal_id uuid NOT NULL REFERENCES withdrawals (withdrawal_id),
    place int4 NOT NULL,
    consumer_id uuid NOT NULL,
    load_id uuid NOT NULL REFERENCES loads (load_id),
    payment_id text NOT NULL,
    amount_cents int8 NOT NULL,
    fee_cents int8 NOT NULL CHECK (fee_cents >= 0 AND fee_cents < amount_cents),
    state text NOT NULL CHECK (state IN ('requested', 'refunding', 'paid', 'failed', 'returned')),
    refund_id text,
    failure text,
    attempts int4 NOT NULL DEFAULT 0,
    next_attempt_at timestamptz(3) NOT NULL
  )`
  yield* sql`CREATE INDEX withdrawal_parts_of ON withdrawal_parts (withdrawal_id)`
  yield* sql`CREATE INDEX withdrawal_parts_of_consumer ON withdrawal_parts (consumer_id)`
  yield* sql`CREATE INDEX withdrawal_parts_due ON withdrawal_parts (next_attempt_at)
    WHERE state IN ('requested', 'refunding')`

  yield* sql`ALTER TABLE load_reversals ADD COLUMN amount_cents int8 NOT NULL DEFAULT 0 CHECK (amount_cents >= 0)`
  yield* sql`UPDATE load_reversals r SET amount_cents = t.amount / 10000 FROM transfers t
    WHERE t.reference = 'refund:' || r.reversal_id AND t.credit = 4`
  yield* sql`ALTER TABLE load_reversals ALTER COLUMN amount_cents DROP DEFAULT`
  yield* sql`CREATE INDEX load_reversals_of_load ON load_reversals (load_id)`
})

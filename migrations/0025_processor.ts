/**
 * One book, one mode: which payment processor's money the ledger holds. Frozen accounts. What a load cost at the processor
 * and when it was credited. Chargebacks, from their opening to their end.
 *
 * The functions that open calls are made again: since this migration they look at `wallets.frozen`.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { openCalls } from "./ledger/OpenCalls.ts"
import { openOneCall } from "./ledger/OpenOneCall.ts"
import { settleCalls } from "./ledger/SettleCalls.ts"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  yield* sql`CREATE TABLE book (
    only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    mode text NOT NULL CHECK (mode IN ('dry_run', 'test', 'live')),
    account_id text,
    opened_at timestamptz(3) NOT NULL
  )`
  // A ledger from before: a dry run names its loads, and Stripe names its sessions by mode. The account is not known; the
  // first posting of that mode fills it in.
  yield* sql`INSERT INTO book (mode, account_id, opened_at)
    SELECT 'dry_run', 'dry_run', min(recorded_at) FROM transfers
    WHERE reference IS NOT NULL AND starts_with(reference, 'dry_run:') HAVING count(*) > 0`
  yield* sql`INSERT INTO book (mode, opened_at)
    SELECT CASE WHEN bool_or(starts_with(session_id, 'cs_live_')) THEN 'live' ELSE 'test' END, min(created_at) FROM loads
    WHERE session_id IS NOT NULL HAVING count(*) > 0
    ON CONFLICT DO NOTHING`

  yield* sql`ALTER TABLE wallets ADD COLUMN frozen boolean NOT NULL DEFAULT false,
    ADD COLUMN frozen_at timestamptz(3), ADD COLUMN frozen_reason text,
    ADD CONSTRAINT wallets_frozen_for_a_reason CHECK (frozen = (frozen_reason IS NOT NULL) AND frozen = (frozen_at IS NOT NULL))`
  yield* sql`CREATE INDEX wallets_frozen ON wallets (consumer_id) WHERE frozen`

  yield* sql`ALTER TABLE loads ADD COLUMN paid_at timestamptz(3), ADD COLUMN fee_cents int4 CHECK (fee_cents >= 0)`
  yield* sql`UPDATE loads SET paid_at = updated_at WHERE state = 'paid'`
  yield* sql`CREATE INDEX loads_of_consumer ON loads (consumer_id, created_at)`
  yield* sql`CREATE INDEX loads_without_fee ON loads (updated_at) WHERE state = 'paid' AND fee_cents IS NULL`

  yield* sql`CREATE TABLE chargebacks (
    chargeback_id text PRIMARY KEY,
    load_id uuid NOT NULL REFERENCES loads (load_id),
    consumer_id uuid NOT NULL,
    amount_cents int8 NOT NULL CHECK (amount_cents > 0),
    state text NOT NULL CHECK (state IN ('open', 'won', 'lost')),
    funds text NOT NULL CHECK (funds IN ('none', 'withdrawn', 'reinstated')),
    released boolean NOT NULL DEFAULT false,
    opened_at timestamptz(3) NOT NULL,
    updated_at timestamptz(3) NOT NULL
  )`
  yield* sql`CREATE INDEX chargebacks_of_consumer ON chargebacks (consumer_id, opened_at)`

  // Those from before the states were kept: whether the bank decided is not known, and no account is frozen by an upgrade.
  yield* sql`INSERT INTO chargebacks (chargeback_id, load_id, consumer_id, amount_cents, state, funds, released, opened_at,
      updated_at)
    SELECT r.reversal_id, l.load_id, l.consumer_id, t.amount / 10000, CASE r.state WHEN 'taken' THEN 'lost' ELSE 'won' END,
      CASE r.state WHEN 'taken' THEN 'withdrawn' ELSE 'reinstated' END, true, t.recorded_at, t.recorded_at
    FROM load_reversals r JOIN loads l USING (load_id)
    JOIN transfers t ON t.reference = 'dispute:' || r.reversal_id AND t.credit = 4`
  yield* sql`DELETE FROM load_reversals r USING chargebacks c WHERE c.chargeback_id = r.reversal_id`

  yield* openCalls
  yield* openOneCall
  yield* settleCalls
})

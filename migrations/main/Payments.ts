/**
 * Consumers' money through the payment processor: loads, reversals and chargebacks of them, withdrawals, and the events
 * that were applied.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const payments = Effect.gen(function* () {
  yield* loads
  yield* withdrawals
})

const loads = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // The ledger holds one processor's money: one mode and one account for good.
  yield* sql`CREATE TABLE book (
    only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    mode text NOT NULL CHECK (mode IN ('dry_run', 'test', 'live')),
    account_id text,
    opened_at timestamptz(3) NOT NULL
  )`

  yield* sql`CREATE TABLE loads (
    load_id uuid PRIMARY KEY,
    consumer_id uuid NOT NULL REFERENCES consumers (id),
    amount_cents int4 NOT NULL CHECK (amount_cents > 0),
    fee_cents int4 CHECK (fee_cents >= 0),
    state text NOT NULL CHECK (state IN ('opening', 'open', 'paid', 'expired', 'failed', 'mismatched')),
    session_id text UNIQUE,
    checkout_url text,
    payment_id text UNIQUE,
    created_at timestamptz(3) NOT NULL,
    updated_at timestamptz(3) NOT NULL,
    paid_at timestamptz(3)
  )`
  yield* sql`CREATE INDEX loads_unsettled ON loads (updated_at) WHERE state IN ('opening', 'open')`
  yield* sql`CREATE INDEX loads_of_consumer ON loads (consumer_id, created_at)`
  yield* sql`CREATE INDEX loads_without_fee ON loads (updated_at) WHERE state = 'paid' AND fee_cents IS NULL`

  yield* sql`CREATE TABLE load_reversals (
    reversal_id text PRIMARY KEY,
    load_id uuid NOT NULL REFERENCES loads (load_id),
    state text NOT NULL CHECK (state IN ('taken', 'returned')),
    amount_cents int8 NOT NULL CHECK (amount_cents >= 0)
  )`
  yield* sql`CREATE INDEX load_reversals_of_load ON load_reversals (load_id)`

  yield* sql`CREATE TABLE chargebacks (
    chargeback_id text COLLATE "C" PRIMARY KEY,
    load_id uuid NOT NULL REFERENCES loads (load_id),
    consumer_id uuid NOT NULL,
    amount_cents int8 NOT NULL CHECK (amount_cents > 0),
    state text NOT NULL CHECK (state IN ('open', 'won', 'lost')),
    funds text NOT NULL CHECK (funds IN ('none', 'withdrawn', 'reinstated')),
    released boolean NOT NULL DEFAULT false,
    opened_at timestamptz(3) NOT NULL,
    updated_at timestamptz(3) NOT NULL
  )`
  yield* sql`CREATE INDEX chargebacks_newest ON chargebacks (opened_at DESC, chargeback_id DESC)`
  yield* sql`CREATE INDEX chargebacks_of_consumer ON chargebacks (consumer_id, opened_at)`

  yield* sql`CREATE TABLE payment_events (
    event_id text PRIMARY KEY,
    claimed_at timestamptz(3) NOT NULL
  )`
  yield* sql`CREATE INDEX payment_events_age ON payment_events (claimed_at)`
})

const withdrawals = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  yield* sql`CREATE TABLE withdrawals (
    withdrawal_id uuid PRIMARY KEY,
    consumer_id uuid NOT NULL REFERENCES consumers (id),
    amount_cents int8 NOT NULL CHECK (amount_cents > 0),
    created_at timestamptz(3) NOT NULL
  )`
  yield* sql`CREATE INDEX withdrawals_of_consumer ON withdrawals (consumer_id, created_at DESC, withdrawal_id DESC)`

  // A withdrawal is one refund at the processor for each load that the money came from.
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
})

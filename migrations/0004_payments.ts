/**
 * Money through the processor: loads of balances, the reversals of their payments, the events that had their effect,
 * providers as payees, and payouts.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  yield* sql`CREATE TABLE loads (
    load_id uuid PRIMARY KEY,
    consumer_id uuid NOT NULL REFERENCES consumers (id),
    amount_cents int4 NOT NULL CHECK (amount_cents > 0),
    state text NOT NULL CHECK (state IN ('opening', 'open', 'paid', 'expired', 'failed')),
    session_id text UNIQUE,
    checkout_url text,
    payment_id text UNIQUE,
    created_at timestamptz(3) NOT NULL,
    updated_at timestamptz(3) NOT NULL
  )`
  yield* sql`CREATE INDEX loads_unsettled ON loads (updated_at) WHERE state IN ('opening', 'open')`
  yield* sql`CREATE TABLE load_reversals (
    reversal_id text PRIMARY KEY,
    load_id uuid NOT NULL REFERENCES loads (load_id),
    state text NOT NULL CHECK (state IN ('taken', 'returned'))
  )`
  yield* sql`CREATE TABLE payment_events (
    event_id text PRIMARY KEY,
    claimed_at timestamptz(3) NOT NULL
  )`
  yield* sql`CREATE INDEX payment_events_age ON payment_events (claimed_at)`

  yield* sql`CREATE TABLE payees (
    provider_id uuid PRIMARY KEY REFERENCES providers (id),
    account_id text UNIQUE,
    standing text,
    automatic boolean NOT NULL DEFAULT false,
    updated_at timestamptz(3) NOT NULL
  )`
  yield* sql`CREATE INDEX payees_automatic ON payees (provider_id) WHERE automatic`

  yield* sql`CREATE TABLE payouts (
    payout_id uuid PRIMARY KEY,
    provider_id uuid NOT NULL REFERENCES providers (id),
    account_id text NOT NULL,
    amount_cents int8 NOT NULL CHECK (amount_cents > 0),
    state text NOT NULL CHECK (state IN ('requested', 'transferring', 'paid', 'failed', 'reversed')),
    transfer_id text,
    failure text,
    reversed_cents int8 NOT NULL DEFAULT 0 CHECK (reversed_cents >= 0),
    attempts int4 NOT NULL DEFAULT 0,
    next_attempt_at timestamptz(3) NOT NULL,
    created_at timestamptz(3) NOT NULL,
    paid_at timestamptz(3)
  )`
  // One at a time: whoever asks at the same moment meets this.
  yield* sql`CREATE UNIQUE INDEX payouts_open ON payouts (provider_id) WHERE state IN ('requested', 'transferring')`
  yield* sql`CREATE INDEX payouts_due ON payouts (next_attempt_at) WHERE state IN ('requested', 'transferring')`
  yield* sql`CREATE INDEX payouts_of_provider ON payouts (provider_id, created_at DESC, payout_id DESC)`
})

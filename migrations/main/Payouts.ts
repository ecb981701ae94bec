/**
 * Providers as payees of the payment processor, and their payouts.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const payouts = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  yield* sql`CREATE TABLE payees (
    provider_id uuid PRIMARY KEY REFERENCES providers (id),
    account_id text UNIQUE,
    standing text,
    automatic boolean NOT NULL DEFAULT false,
    reserve_lifted boolean NOT NULL DEFAULT false,
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
  // One open payout per provider, also when two requests arrive at the same moment.
  yield* sql`CREATE UNIQUE INDEX payouts_open ON payouts (provider_id) WHERE state IN ('requested', 'transferring')`
  yield* sql`CREATE INDEX payouts_due ON payouts (next_attempt_at) WHERE state IN ('requested', 'transferring')`
  yield* sql`CREATE INDEX payouts_newest ON payouts (created_at DESC, payout_id DESC)`
  yield* sql`CREATE INDEX payouts_by_state ON payouts (state, created_at DESC, payout_id DESC)`
  yield* sql`CREATE INDEX payouts_of_provider ON payouts (provider_id, created_at DESC, payout_id DESC)`
})

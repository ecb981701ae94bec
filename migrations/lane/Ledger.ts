/**
 * The ledger: balances of consumers, transfers between accounts, and totals of every other account. What the numbers in
 * `account`, `debit`, `credit` and `kind` mean is in `adapters/sql/ledger/LedgerCodes.ts`.
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
    CONSTRAINT wallets_never_below_zero CHECK (debits >= 0 AND held >= 0 AND credits - debits - held >= 0)
  ) WITH (fillfactor = 50)`
  yield* sql`CREATE INDEX wallets_frozen ON wallets (consumer_id) WHERE frozen`

  // One row moves an amount from one account to another. The wallet is that of consumer_id, the provider account that of
  // provider_id. A transfer of a call has no lot: its lot is the day on which it was recorded.
  yield* sql`CREATE TABLE transfers (
    transfer_id uuid NOT NULL,
    consumer_id uuid NOT NULL,
    provider_id uuid,
    amount int8 NOT NULL,
    effective_at timestamptz NOT NULL,
    recorded_at timestamptz NOT NULL,
    leg smallint NOT NULL,
    kind smallint NOT NULL,
    debit smallint NOT NULL,
    credit smallint NOT NULL,
    reference text,
    lot date,
    PRIMARY KEY (transfer_id, leg, consumer_id),
    CONSTRAINT transfers_move_something CHECK (amount > 0 AND debit <> credit)
  )`
  yield* sql`CREATE UNIQUE INDEX transfers_reference ON transfers (reference, leg) WHERE reference IS NOT NULL`
  // Rows arrive in order of time: BRIN finds a month without a B-tree that every call would pay for.
  yield* sql`CREATE INDEX transfers_recorded ON transfers USING brin (recorded_at)`
  yield* sql`CREATE INDEX transfers_posted ON transfers (recorded_at) WHERE reference IS NOT NULL`

  // Totals of every account but the wallets. A provider's balance is kept in lots, one per settlement day; other accounts
  // have the day 1970-01-01. Each connection adds to a row of its own, so that two of them never wait for a hot row.
  yield* sql`CREATE TABLE account_balances (
    owner_id uuid NOT NULL,
    account smallint NOT NULL,
    lane smallint NOT NULL,
    day date NOT NULL DEFAULT '1970-01-01',
    credits int8 NOT NULL DEFAULT 0,
    debits int8 NOT NULL DEFAULT 0,
    PRIMARY KEY (owner_id, account, day, lane)
  ) WITH (fillfactor = 50)`
})

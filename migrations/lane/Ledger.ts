/**
 * The ledger: balances of consumers, posted transfers between accounts, and totals of every other account. The transfers
 * of calls follow from their receipts: see the view `transfers` in `Receipts.ts`. What the numbers in `account`, `debit`,
 * `credit` and `kind` mean is in `adapters/sql/ledger/LedgerCodes.ts`.
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

  // One row moves an amount from one account to another. The wallet is that of consumer_id, the provider account that of
  // provider_id. Only calls have the kinds 1 and 2.
  yield* sql`CREATE TABLE posted_transfers (
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
    reference text NOT NULL,
    lot date,
    PRIMARY KEY (transfer_id, leg, consumer_id),
    CONSTRAINT posted_transfers_move_something CHECK (amount > 0 AND debit <> credit),
    CONSTRAINT posted_transfers_are_not_of_calls CHECK (kind > 2)
  )`
  yield* sql`CREATE UNIQUE INDEX posted_transfers_reference ON posted_transfers (reference, leg)`
  yield* sql`CREATE INDEX posted_transfers_recorded ON posted_transfers (recorded_at)`

  // Totals of every account but the wallets. A provider's balance is kept in lots, one per settlement day; other accounts
  // have the day 1970-01-01. Lane 0 has what was posted, lane 1 what calls earned, so that a posting does not wait for the job
  // that counts calls. Calls that wait for it are missing: see the view `account_totals` in `Earnings.ts`.
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

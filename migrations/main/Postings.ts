/**
 * What was posted between accounts, and the totals of every account but the wallets. The transfers of calls follow from their
 * receipts. What the numbers in `account`, `debit`, `credit` and `kind` mean is in `adapters/sql/ledger/LedgerCodes.ts`.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const postings = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

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
  // that counts calls. Calls that wait for it are missing: who reads it counts them first.
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

/**
 * Receipts, the transfers that follow from them, and the outbox from which they enter the transparency log. What the
 * numbers in `status` and `origin` mean is in `adapters/sql/ledger/LedgerCodes.ts`.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const receipts = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // hold_ms, request_id: null where unknown. request_id is packed: see adapters/sql/receipts/PostgresReceiptStore.ts.
  yield* sql`CREATE TABLE receipts (
    receipt_id uuid NOT NULL,
    consumer_id uuid NOT NULL,
    provider_id uuid NOT NULL,
    tool_id uuid NOT NULL,
    called_at timestamptz NOT NULL,
    created_at timestamptz NOT NULL,
    cost int8 NOT NULL,
    fee int8 NOT NULL,
    duration_ms int4 NOT NULL,
    price_version int4 NOT NULL,
    request_bytes int4 NOT NULL,
    response_bytes int4 NOT NULL,
    tokens_input int4 NOT NULL,
    tokens_output int4 NOT NULL,
    hold_ms int4,
    status smallint NOT NULL,
    origin smallint NOT NULL,
    fee_bps smallint NOT NULL,
    signature bytea NOT NULL,
    tool_name text NOT NULL,
    request_id bytea,
    PRIMARY KEY (receipt_id, consumer_id)
  )`
  yield* sql`CREATE INDEX receipts_of_consumer ON receipts (consumer_id, receipt_id)`
  yield* sql`CREATE INDEX receipts_of_provider ON receipts (provider_id, receipt_id)`
  yield* sql`CREATE INDEX receipts_created ON receipts USING brin (created_at)`

  // Every transfer. A receipt is the journal entry of its call: the provider's share is leg 1, its lot is the day on which
  // the receipt was created; the platform fee is leg 2.
  yield* sql`CREATE VIEW transfers AS
    SELECT transfer_id, consumer_id, provider_id, amount, effective_at, recorded_at, leg, kind, debit, credit, reference, lot
    FROM posted_transfers
    UNION ALL
    SELECT r.receipt_id, r.consumer_id, r.provider_id, part.amount, r.called_at, r.created_at, part.leg, part.leg, 1::smallint,
      part.credit, NULL, part.lot
    FROM receipts r, LATERAL (VALUES
      (1::smallint, 2::smallint, r.cost - r.fee, (r.created_at AT TIME ZONE 'UTC')::date),
      (2::smallint, 3::smallint, r.fee, NULL)
    ) AS part (leg, credit, amount, lot)
    WHERE part.amount > 0`

  // The receipts of calls that were closed together, in order. A row waits from the transaction that writes its receipts
  // (`calls_close`) until the sequencer appends them to the log, and adds them to `usage_hourly` and `account_balances` unless
  // that was done before (counted). Up to 500 ids stay in the row: without compression, which would gain nothing.
  yield* sql`CREATE TABLE receipts_unlogged (
    first_receipt uuid PRIMARY KEY,
    receipt_ids uuid[] NOT NULL,
    counted boolean NOT NULL DEFAULT false
  ) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0,
    toast_tuple_target = 8160)`
  yield* sql`ALTER TABLE receipts_unlogged ALTER COLUMN receipt_ids SET STORAGE EXTERNAL`
})

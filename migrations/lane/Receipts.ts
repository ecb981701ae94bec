/**
 * Receipts, the outbox from which they enter the transparency log, and their places there. What the
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

  // The receipts of calls that were closed together, in order. A row waits from the transaction that writes its receipts
  // (`calls_close`) until they are counted in `usage_hourly` and `account_balances`, and then appended to the log. Up to 500 ids
  // stay in the row: without compression, which would gain nothing.
  yield* sql`CREATE TABLE receipts_unlogged (
    first_receipt uuid PRIMARY KEY,
    receipt_ids uuid[] NOT NULL,
    counted boolean NOT NULL DEFAULT false
  ) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0,
    toast_tuple_target = 8160)`
  yield* sql`ALTER TABLE receipts_unlogged ALTER COLUMN receipt_ids SET STORAGE EXTERNAL`

  // Where the log has a receipt.
  yield* sql`CREATE TABLE receipt_log_places (
    receipt_id uuid NOT NULL,
    consumer_id uuid NOT NULL,
    log smallint NOT NULL,
    leaf int8 NOT NULL,
    PRIMARY KEY (receipt_id, consumer_id)
  )`
})

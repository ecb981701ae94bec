/**
 * Monthly documents. `invoice_usage` is what a month's calls come to, summed up once the month is over; documents are
 * append-only, and their numbers come from a counter that is locked while they are kept.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // Rows come in the order of time, so a month is found without a B-tree that every call would have to pay for.
  yield* sql`CREATE INDEX receipts_created ON receipts USING brin (created_at)`
  yield* sql`CREATE INDEX transfers_recorded ON transfers USING brin (recorded_at)`
  yield* sql`CREATE INDEX transfers_posted ON transfers (recorded_at) WHERE reference IS NOT NULL`

  yield* sql`CREATE TABLE invoice_months (
    month text PRIMARY KEY,
    staged_at timestamptz(3),
    completed_at timestamptz(3)
  )`
  yield* sql`CREATE TABLE invoice_usage (
    month text NOT NULL,
    consumer_id uuid NOT NULL,
    provider_id uuid NOT NULL,
    tool_id uuid NOT NULL,
    price_version int4 NOT NULL,
    tool_name text NOT NULL,
    calls int8 NOT NULL,
    billed int8 NOT NULL,
    free int8 NOT NULL,
    failed int8 NOT NULL,
    amount int8 NOT NULL,
    fee int8 NOT NULL,
    PRIMARY KEY (month, consumer_id, tool_id, provider_id, price_version)
  )`
  yield* sql`CREATE INDEX invoice_usage_of_provider ON invoice_usage (month, provider_id)`
  // Signed: below zero is out of the owner's balance.
  yield* sql`CREATE TABLE invoice_movements (
    month text NOT NULL,
    owner_id uuid NOT NULL,
    role smallint NOT NULL,
    kind smallint NOT NULL,
    amount int8 NOT NULL,
    PRIMARY KEY (month, role, owner_id, kind)
  )`
  // Whom a month concerns; a row goes when its documents have been made.
  yield* sql`CREATE TABLE invoice_pending (
    month text NOT NULL,
    role smallint NOT NULL,
    owner_id uuid NOT NULL,
    PRIMARY KEY (month, role, owner_id)
  )`

  yield* sql`CREATE TABLE invoice_counters (series text PRIMARY KEY, count int8 NOT NULL)`
  yield* sql`CREATE TABLE invoices (
    invoice_id uuid PRIMARY KEY,
    number text NOT NULL UNIQUE,
    kind text NOT NULL CHECK (kind IN ('invoice', 'statement', 'credit_note')),
    month text NOT NULL,
    owner_id uuid NOT NULL,
    corrects uuid REFERENCES invoices (invoice_id),
    total int8 NOT NULL,
    document text NOT NULL
  )`
  yield* sql`CREATE UNIQUE INDEX invoices_once ON invoices (month, kind, owner_id) WHERE corrects IS NULL`
  yield* sql`CREATE INDEX invoices_of_owner ON invoices (owner_id, invoice_id)`
  yield* sql`CREATE INDEX invoices_corrections ON invoices (corrects) WHERE corrects IS NOT NULL`
  yield* sql`CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON invoices
    FOR EACH STATEMENT EXECUTE FUNCTION append_only()`
})

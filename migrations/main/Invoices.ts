/**
 * Monthly documents. `invoice_usage` and `invoice_movements` are the totals of a month, computed once it is over. A month
 * that was closed too early gets supplements: each closing is a part, with its own documents for what was left out before.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const invoices = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  yield* sql`CREATE TABLE invoice_months (
    month text PRIMARY KEY,
    part int4 NOT NULL DEFAULT 1,
    staged_at timestamptz(3),
    completed_at timestamptz(3)
  )`

  yield* sql`CREATE TABLE invoice_usage (
    month text NOT NULL,
    part int4 NOT NULL DEFAULT 1,
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
    PRIMARY KEY (month, consumer_id, tool_id, provider_id, price_version, part)
  )`
  yield* sql`CREATE INDEX invoice_usage_of_provider ON invoice_usage (month, provider_id)`

  // A negative amount leaves the owner's balance.
  yield* sql`CREATE TABLE invoice_movements (
    month text NOT NULL,
    part int4 NOT NULL DEFAULT 1,
    owner_id uuid NOT NULL,
    role smallint NOT NULL,
    kind smallint NOT NULL,
    amount int8 NOT NULL,
    PRIMARY KEY (month, role, owner_id, kind, part)
  )`

  // Owners whose documents of a month are still to be issued.
  yield* sql`CREATE TABLE invoice_pending (
    month text NOT NULL,
    role smallint NOT NULL,
    owner_id uuid NOT NULL,
    PRIMARY KEY (month, role, owner_id)
  )`

  // The last number of each series, locked while a document is issued, so that numbers have no gaps.
  yield* sql`CREATE TABLE invoice_counters (series text PRIMARY KEY, count int8 NOT NULL)`

  yield* sql`CREATE TABLE invoices (
    invoice_id uuid PRIMARY KEY,
    number text NOT NULL UNIQUE,
    kind text NOT NULL CHECK (kind IN ('invoice', 'statement', 'credit_note')),
    month text NOT NULL,
    part int4 NOT NULL DEFAULT 1,
    owner_id uuid NOT NULL,
    corrects uuid REFERENCES invoices (invoice_id),
    total int8 NOT NULL,
    document text NOT NULL
  )`
  yield* sql`CREATE UNIQUE INDEX invoices_once ON invoices (month, kind, owner_id, part) WHERE corrects IS NULL`
  yield* sql`CREATE INDEX invoices_of_owner ON invoices (owner_id, invoice_id)`
  yield* sql`CREATE INDEX invoices_corrections ON invoices (corrects) WHERE corrects IS NOT NULL`
})

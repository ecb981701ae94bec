/**
 * The ledger and the calls. Hot tables carry the consumer in their key, no foreign keys and no sequences. Two functions
 * are the whole database side of a billed call, one round trip each for any number of calls.
 *
 * Codes. Account: 1 wallet, 2 provider, 3 platform_fee, 4 processor, 5 load_clearing, 6 payout_clearing,
 * 7 refund_clearing, 8 dispute_clearing, 9 promo, 10 adjustment. Kind: 1 call, 2 fee, 3 load, 4 refund, 5 payout,
 * 6 dispute, 7 credit, 8 credit_expiry, 9 adjustment. Status: 1 success, 2 error, 3 timeout, 4 rate_limited.
 * Origin: 1 proxy, 2 meter. Period: 1 day, 2 month, 3 total.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { closeCalls } from "./ledger/CloseCalls.ts"
import { openCalls } from "./ledger/OpenCalls.ts"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // The only balance that a call locks. It changes twice per call: room on the page keeps those updates HOT.
  yield* sql`CREATE TABLE wallets (
    consumer_id uuid PRIMARY KEY,
    credits int8 NOT NULL DEFAULT 0,
    debits int8 NOT NULL DEFAULT 0,
    held int8 NOT NULL DEFAULT 0,
    budgeted boolean NOT NULL DEFAULT false,
    CONSTRAINT wallets_never_below_zero CHECK (debits >= 0 AND held >= 0 AND credits - debits - held >= 0)
  ) WITH (fillfactor = 50)`

  // One row moves an amount from one account to another: the wallet is consumer_id's, the provider account provider_id's.
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
    PRIMARY KEY (transfer_id, leg, consumer_id),
    CONSTRAINT transfers_move_something CHECK (amount > 0 AND debit <> credit)
  )`
  yield* sql`CREATE UNIQUE INDEX transfers_reference ON transfers (reference, leg) WHERE reference IS NOT NULL`

  // Sums of the transfers of every account but the wallets. A row per lane: no two settlement lanes meet on a hot row.
  yield* sql`CREATE TABLE account_balances (
    owner_id uuid NOT NULL,
    account smallint NOT NULL,
    lane smallint NOT NULL,
    credits int8 NOT NULL DEFAULT 0,
    debits int8 NOT NULL DEFAULT 0,
    PRIMARY KEY (owner_id, account, lane)
  ) WITH (fillfactor = 50)`

  // A row lives as long as its call is under way: its deletion is what makes closing happen once.
  yield* sql`CREATE TABLE calls_open (
    invocation_id uuid NOT NULL,
    consumer_id uuid NOT NULL,
    provider_id uuid NOT NULL,
    tool_id uuid NOT NULL,
    held int8 NOT NULL,
    opened_at timestamptz NOT NULL,
    deadline_at timestamptz NOT NULL,
    price_version int4 NOT NULL,
    free_calls_left int4,
    origin smallint NOT NULL,
    free boolean NOT NULL,
    tool_name text NOT NULL,
    key_hash bytea,
    request_hash bytea,
    budget_ids uuid[],
    PRIMARY KEY (invocation_id, consumer_id)
  ) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000, autovacuum_vacuum_cost_delay = 0)`
  yield* sql`CREATE UNIQUE INDEX calls_open_key ON calls_open (consumer_id, key_hash) WHERE key_hash IS NOT NULL`

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
    status smallint NOT NULL,
    origin smallint NOT NULL,
    signature bytea NOT NULL,
    tool_name text NOT NULL,
    PRIMARY KEY (receipt_id, consumer_id)
  )`
  yield* sql`CREATE INDEX receipts_of_consumer ON receipts (consumer_id, receipt_id)`
  yield* sql`CREATE INDEX receipts_of_provider ON receipts (provider_id, receipt_id)`

  yield* sql`CREATE FUNCTION append_only() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      RAISE EXCEPTION '% is append-only: % refused', TG_TABLE_NAME, TG_OP USING ERRCODE = 'restrict_violation';
    END $$`
  yield* sql`CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON transfers
    FOR EACH STATEMENT EXECUTE FUNCTION append_only()`
  yield* sql`CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON receipts
    FOR EACH STATEMENT EXECUTE FUNCTION append_only()`

  // The answer of a closed call whose caller sent a key; while the call is open, its key stands in calls_open.
  yield* sql`CREATE TABLE call_idempotency (
    consumer_id uuid NOT NULL,
    key_hash bytea NOT NULL,
    request_hash bytea NOT NULL,
    invocation_id uuid NOT NULL,
    created_at timestamptz NOT NULL,
    answer_status smallint,
    answer_headers text,
    answer_body bytea,
    PRIMARY KEY (consumer_id, key_hash)
  )`
  yield* sql`CREATE INDEX call_idempotency_age ON call_idempotency USING brin (created_at) WITH (autosummarize = on)`

  yield* sql`CREATE TABLE usage_hourly (
    consumer_id uuid NOT NULL,
    hour timestamptz NOT NULL,
    tool_id uuid NOT NULL,
    provider_id uuid NOT NULL,
    calls int8 NOT NULL,
    successes int8 NOT NULL,
    timeouts int8 NOT NULL,
    spend int8 NOT NULL,
    fee int8 NOT NULL,
    latency_ms int8 NOT NULL,
    request_bytes int8 NOT NULL,
    response_bytes int8 NOT NULL,
    tokens_input int8 NOT NULL,
    tokens_output int8 NOT NULL,
    PRIMARY KEY (consumer_id, hour, tool_id, provider_id)
  ) WITH (fillfactor = 70)`
  yield* sql`CREATE INDEX usage_hourly_of_provider ON usage_hourly (provider_id, hour)`

  yield* sql`CREATE TABLE free_tier_usage (
    consumer_id uuid NOT NULL,
    tool_id uuid NOT NULL,
    month date NOT NULL,
    used int4 NOT NULL CHECK (used >= 0),
    PRIMARY KEY (consumer_id, tool_id, month)
  ) WITH (fillfactor = 70)`

  yield* sql`CREATE TABLE budgets (
    consumer_id uuid NOT NULL,
    budget_id uuid NOT NULL,
    tool_id uuid,
    provider_id uuid,
    cap int8 NOT NULL CHECK (cap >= 0),
    period smallint NOT NULL,
    period_start timestamptz NOT NULL,
    spent int8 NOT NULL DEFAULT 0 CHECK (spent >= 0),
    held int8 NOT NULL DEFAULT 0 CHECK (held >= 0),
    created_at timestamptz NOT NULL,
    PRIMARY KEY (consumer_id, budget_id)
  ) WITH (fillfactor = 70)`

  yield* sql`CREATE FUNCTION budget_period_start(period smallint, at timestamptz) RETURNS timestamptz
  LANGUAGE sql STABLE AS $$
    SELECT CASE period WHEN 1 THEN date_trunc('day', at, 'UTC') WHEN 2 THEN date_trunc('month', at, 'UTC')
      ELSE '-infinity'::timestamptz END
  $$`

  yield* openCalls
  yield* closeCalls
})

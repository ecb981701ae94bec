/**
 * What calls add up to for a consumer, and what its calls need to know of earlier ones.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const usage = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

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
  yield* sql`CREATE INDEX usage_hourly_recent ON usage_hourly USING brin (hour)`

  // What each receipt adds to the totals, and the day of its settlement. Receipts are looked up one by one, regardless of the
  // planner's estimates for tables that grow by millions.
  yield* sql`CREATE FUNCTION usage_of(receipt_ids uuid[]) RETURNS TABLE (consumer_id uuid, hour timestamptz, tool_id uuid,
    provider_id uuid, calls int8, successes int8, timeouts int8, spend int8, fee int8, latency_ms int8, request_bytes int8,
    response_bytes int8, tokens_input int8, tokens_output int8, settled_on date) LANGUAGE sql STABLE AS $$
    SELECT r.consumer_id, date_bin('1 hour', r.called_at, timestamptz '2000-01-01Z'), r.tool_id, r.provider_id, 1::int8,
      (r.status = 1)::int::int8, (r.status = 3)::int::int8, r.cost, r.fee, r.duration_ms::int8, r.request_bytes::int8,
      r.response_bytes::int8, r.tokens_input::int8, r.tokens_output::int8, (r.created_at AT TIME ZONE 'UTC')::date
    FROM unnest(receipt_ids) AS i (id) CROSS JOIN LATERAL (SELECT * FROM receipts WHERE receipt_id = i.id LIMIT 1) r
  $$`

  // The totals of every completed call: of those that are counted, and of those that still wait for it. Read instead of
  // `usage_hourly`, whose rows follow about a second later.
  yield* sql`CREATE VIEW usage_totals AS
    SELECT * FROM usage_hourly
    UNION ALL
    SELECT u.consumer_id, u.hour, u.tool_id, u.provider_id, u.calls, u.successes, u.timeouts, u.spend, u.fee, u.latency_ms,
      u.request_bytes, u.response_bytes, u.tokens_input, u.tokens_output
    FROM receipts_unlogged w CROSS JOIN LATERAL usage_of(w.receipt_ids) u WHERE NOT w.counted`

  yield* sql`CREATE TABLE free_tier_usage (
    consumer_id uuid NOT NULL,
    tool_id uuid NOT NULL,
    month date NOT NULL,
    used int4 NOT NULL CHECK (used >= 0),
    PRIMARY KEY (consumer_id, tool_id, month)
  ) WITH (fillfactor = 70)`

  // Which tool a consumer means by a bare tool name.
  yield* sql`CREATE TABLE tool_name_pins (
    consumer_id uuid NOT NULL,
    tool_name text COLLATE "C" NOT NULL,
    tool_id uuid NOT NULL,
    pinned_at timestamptz(3) NOT NULL,
    PRIMARY KEY (consumer_id, tool_name)
  )`

  // Paid calls whose output does not match the tool's output schema, for as long as they can be disputed.
  yield* sql`CREATE TABLE unfit_outputs (
    consumer_id uuid NOT NULL,
    receipt_id uuid NOT NULL,
    noted_at timestamptz(3) NOT NULL,
    PRIMARY KEY (consumer_id, receipt_id)
  )`
  yield* sql`CREATE INDEX unfit_outputs_age ON unfit_outputs (noted_at)`
})

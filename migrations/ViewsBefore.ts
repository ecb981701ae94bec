/**
 * Views and functions that only nodes of the release before read, over receipts that are not counted yet. They go with the next
 * release.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const viewsBefore = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

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

  // The same amounts as in the view `transfers`. Only calls have lane 1.
  yield* sql`CREATE FUNCTION earnings_of(provider_id uuid, settled_on date, cost int8, fee int8)
  RETURNS SETOF account_balances LANGUAGE sql STABLE AS $$
    SELECT part.owner_id, part.account, 1::smallint, part.day, part.amount, 0::int8 FROM (VALUES
      (provider_id, 2::smallint, settled_on, cost - fee),
      (uuid '00000000-0000-0000-0000-000000000000', 3::smallint, date '1970-01-01', fee)
    ) AS part (owner_id, account, day, amount) WHERE part.amount > 0
  $$`

  yield* sql`CREATE FUNCTION budget_period_start(period smallint, at timestamptz) RETURNS timestamptz
  LANGUAGE sql STABLE AS $$
    SELECT CASE period WHEN 1 THEN date_trunc('day', at, 'UTC') WHEN 2 THEN date_trunc('month', at, 'UTC')
      ELSE '-infinity'::timestamptz END
  $$`

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

  // The totals of every completed call: of those that are counted, and of those that still wait for it. Read instead of
  // `usage_hourly`, whose rows follow about a second later.
  yield* sql`CREATE VIEW usage_totals AS
    SELECT * FROM usage_hourly
    UNION ALL
    SELECT u.consumer_id, u.hour, u.tool_id, u.provider_id, u.calls, u.successes, u.timeouts, u.spend, u.fee, u.latency_ms,
      u.request_bytes, u.response_bytes, u.tokens_input, u.tokens_output
    FROM receipts_unlogged w CROSS JOIN LATERAL usage_of(w.receipt_ids) u WHERE NOT w.counted`

  // The balances with every completed call. Read instead of `account_balances` for the accounts that calls credit: its rows
  // follow about a second later.
  yield* sql`CREATE VIEW account_totals AS
    SELECT owner_id, account, lane, day, credits, debits FROM account_balances
    UNION ALL
    SELECT e.owner_id, e.account, e.lane, e.day, e.credits, e.debits
    FROM receipts_unlogged w CROSS JOIN LATERAL usage_of(w.receipt_ids) u
    CROSS JOIN LATERAL earnings_of(u.provider_id, u.settled_on, u.spend, u.fee) e WHERE NOT w.counted`
})

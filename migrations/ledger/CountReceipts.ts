/**
 * The function that adds completed calls to the totals that are kept of them: the usage of their consumers by hour, and what
 * their providers and the platform earned. What the numbers in `account` mean is in `adapters/sql/ledger/LedgerCodes.ts`.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** The columns of `usage_hourly` that are summed, and what a receipt adds to each. */
const TOTALS: Readonly<Record<string, string>> = {
  calls: "count(*)",
  successes: "count(*) FILTER (WHERE r.status = 1)",
  timeouts: "count(*) FILTER (WHERE r.status = 3)",
  spend: "sum(r.cost)",
  fee: "sum(r.fee)",
  latency_ms: "sum(r.duration_ms)",
  request_bytes: "sum(r.request_bytes)",
  response_bytes: "sum(r.response_bytes)",
  tokens_input: "sum(r.tokens_input)",
  tokens_output: "sum(r.tokens_output)"
}

const KEY = "consumer_id, hour, tool_id, provider_id"
const COLUMNS = Object.keys(TOTALS)

const addUsage = (rows: string): string => `
  INSERT INTO usage_hourly AS u (${KEY}, ${COLUMNS.join(", ")}) ${rows} GROUP BY 1, 2, 3, 4
  ON CONFLICT (${KEY}) DO UPDATE SET
    ${COLUMNS.map((column) => `${column} = u.${column} + excluded.${column}`).join(", ")}`

/** The first hour of a row's day. */
const DAY = "date_bin('1 day', hour, timestamptz '2000-01-01Z')"

/** One counter at a time, of all nodes: who waits for it finds the calls counted that were completed before. */
const LOCK = "PERFORM pg_advisory_xact_lock(4700039);"

export const countReceipts = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // Counts the receipts of at most p_rows rows of `receipts_unlogged`, and returns their number. Earnings have lane 1.
  yield* sql.unsafe(`CREATE OR REPLACE FUNCTION count_receipts(p_rows int4) RETURNS int8 LANGUAGE plpgsql AS $$
    DECLARE
      v_rows uuid[];
      v_ids uuid[];
    BEGIN
      ${LOCK}
      SELECT array_agg(w.first_receipt) INTO v_rows
      FROM (SELECT first_receipt FROM receipts_unlogged WHERE NOT counted LIMIT p_rows) w;
      IF v_rows IS NULL THEN
        RETURN 0;
      END IF;
      WITH w AS (
        UPDATE receipts_unlogged SET counted = true WHERE first_receipt = ANY (v_rows) AND NOT counted RETURNING receipt_ids
      )
      SELECT array_agg(i.id) INTO v_ids FROM w CROSS JOIN LATERAL unnest(w.receipt_ids) AS i (id);

      ${addUsage(`SELECT r.consumer_id, date_bin('1 hour', r.called_at, timestamptz '2000-01-01Z'), r.tool_id, r.provider_id,
        ${Object.values(TOTALS).join(", ")}
      FROM receipts r WHERE r.receipt_id = ANY (v_ids)`)};

      INSERT INTO account_balances AS b (owner_id, account, lane, day, credits)
      WITH earned AS MATERIALIZED (
        SELECT r.provider_id, (r.created_at AT TIME ZONE 'UTC')::date AS day, sum(r.cost - r.fee) AS net, sum(r.fee) AS fee
        FROM receipts r WHERE r.receipt_id = ANY (v_ids) GROUP BY 1, 2
      )
      SELECT provider_id, 2, 1, day, net FROM earned WHERE net > 0
      UNION ALL
      SELECT uuid '00000000-0000-0000-0000-000000000000', 3, 1, date '1970-01-01', sum(fee) FROM earned HAVING sum(fee) > 0
      ON CONFLICT (owner_id, account, day, lane) DO UPDATE SET credits = b.credits + excluded.credits;
      RETURN coalesce(cardinality(v_ids), 0);
    END $$`)

  // Turns at most p_hours hours of days before p_day into days, and returns their number. A day's row is that of its first
  // hour.
  yield* sql.unsafe(`CREATE OR REPLACE FUNCTION roll_up_usage(p_day timestamptz, p_hours int4) RETURNS int8 LANGUAGE plpgsql AS $$
    DECLARE
      v_hours int8;
    BEGIN
      ${LOCK}
      WITH hours AS (
        DELETE FROM usage_hourly WHERE (${KEY}) IN (
          SELECT ${KEY} FROM usage_hourly WHERE hour < p_day AND hour <> ${DAY} LIMIT p_hours)
        RETURNING *
      ), days AS (
        ${addUsage(`SELECT consumer_id, ${DAY}, tool_id, provider_id, ${COLUMNS.map((column) => `sum(${column})`).join(", ")}
        FROM hours`)}
      )
      SELECT count(*) INTO v_hours FROM hours;
      RETURN v_hours;
    END $$`)
})

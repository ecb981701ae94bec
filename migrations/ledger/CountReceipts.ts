/**
 * The function that adds completed calls to the totals that are kept of them: the usage of their consumers by hour and of
 * their providers by day, and what these and the platform earned. What the numbers in `account` mean is in
 * `adapters/sql/ledger/LedgerCodes.ts`.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** The columns of `usage_hourly` and `provider_usage` that are summed, and what a receipt adds to each. */
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

const COLUMNS = Object.keys(TOTALS)
const RECEIPT_TOTALS = Object.values(TOTALS).join(", ")
const COLUMN_TOTALS = COLUMNS.map((column) => `sum(${column})`).join(", ")

const HOURS = { table: "usage_hourly", key: "consumer_id, hour, tool_id, provider_id" }
const DAYS = { table: "provider_usage", key: "provider_id, day, tool_id" }

/** Groups rows by the key of a table. `merged` is the new value of a column whose row is there already. */
const put = (
  { key, table }: typeof HOURS,
  rows: string,
  merged = (column: string): string => `u.${column} + excluded.${column}`
): string => `
  INSERT INTO ${table} AS u (${key}, ${COLUMNS.join(", ")}) ${rows} GROUP BY 1, 2, 3${table === HOURS.table ? ", 4" : ""}
  ON CONFLICT (${key}) DO UPDATE SET ${COLUMNS.map((column) => `${column} = ${merged(column)}`).join(", ")}`

const startOf = (unit: "day" | "hour", time: string): string =>
  `date_bin('1 ${unit}', ${time}, timestamptz '2000-01-01Z')`

/** The first hour of a row's day. */
const DAY = startOf("day", "hour")

/** Not a provider: the day of its row is the first from which on `provider_usage` has all usage. */
export const MARKET = "uuid '00000000-0000-0000-0000-000000000000'"

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

      ${put(
        HOURS,
        `SELECT r.consumer_id, ${startOf("hour", "r.called_at")}, r.tool_id, r.provider_id, ${RECEIPT_TOTALS}
        FROM receipts r WHERE r.receipt_id = ANY (v_ids)`
      )};
      ${put(
        DAYS,
        `SELECT r.provider_id, ${startOf("day", "r.called_at")}, r.tool_id, ${RECEIPT_TOTALS}
        FROM receipts r WHERE r.receipt_id = ANY (v_ids)`
      )};

      INSERT INTO account_balances AS b (owner_id, account, lane, day, credits)
      WITH earned AS MATERIALIZED (
        SELECT r.provider_id, (r.created_at AT TIME ZONE 'UTC')::date AS day, sum(r.cost - r.fee) AS net, sum(r.fee) AS fee
        FROM receipts r WHERE r.receipt_id = ANY (v_ids) GROUP BY 1, 2
      )
      SELECT provider_id, 2, 1, day, net FROM earned WHERE net > 0
      UNION ALL
      SELECT ${MARKET}, 3, 1, date '1970-01-01', sum(fee) FROM earned HAVING sum(fee) > 0
      ON CONFLICT (owner_id, account, day, lane) DO UPDATE SET credits = b.credits + excluded.credits;
      RETURN coalesce(cardinality(v_ids), 0);
    END $$`)

  // Turns at most p_hours hours of days before p_day into days, and returns their number. A day's row is that of its first
  // hour. While `provider_usage` lacks days, a round adds the newest of them instead.
  yield* sql.unsafe(`CREATE OR REPLACE FUNCTION roll_up_usage(p_day timestamptz, p_hours int4) RETURNS int8 LANGUAGE plpgsql AS $$
    DECLARE
      v_hours int8;
      v_known timestamptz;
      v_day timestamptz := ${startOf("day", "now()")};
    BEGIN
      ${LOCK}
      SELECT day INTO v_known FROM provider_usage WHERE provider_id = ${MARKET};
      IF v_known > '-infinity' THEN
        v_day := least(v_day, v_known - interval '24 hours');
        ${put(
          DAYS,
          `SELECT provider_id, ${DAY}, tool_id, ${COLUMN_TOTALS} FROM usage_hourly WHERE hour >= v_day AND hour < v_known`,
          (column) => `excluded.${column}`
        )};
        UPDATE provider_usage SET day = v_day WHERE provider_id = ${MARKET};
        IF NOT EXISTS (SELECT 1 FROM usage_hourly WHERE hour < v_day) THEN
          UPDATE provider_usage SET day = '-infinity' WHERE provider_id = ${MARKET};
        END IF;
        RETURN p_hours;
      END IF;
      WITH hours AS (
        DELETE FROM usage_hourly WHERE (${HOURS.key}) IN (
          SELECT ${HOURS.key} FROM usage_hourly WHERE hour < p_day AND hour <> ${DAY} LIMIT p_hours)
        RETURNING *
      ), days AS (
        ${put(HOURS, `SELECT consumer_id, ${DAY}, tool_id, provider_id, ${COLUMN_TOTALS} FROM hours`)}
      )
      SELECT count(*) INTO v_hours FROM hours;
      RETURN v_hours;
    END $$`)
})

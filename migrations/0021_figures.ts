/**
 * Figures that cannot be bent: proxied calls of each tool since it was first called, apart from the reported ones; days of
 * calls by provider and consumer, from which trust is computed; and how many calls the provider rejected for their input.
 *
 * What the log has followed is taken from the receipts once; what still waits for its place is followed as usual.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** The window that trust looks at, with a day to spare. */
const TRUST_DAYS = 31

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  for (const table of ["sla_hourly", "sla_daily"]) {
    yield* sql`ALTER TABLE ${sql(table)} ADD COLUMN input_rejected int8 NOT NULL DEFAULT 0`
  }

  yield* sql`CREATE TABLE tool_figures (
    tool_id uuid PRIMARY KEY,
    calls int8 NOT NULL,
    successes int8 NOT NULL,
    input_rejected int8 NOT NULL,
    latency_ms int8 NOT NULL,
    reported int8 NOT NULL
  ) WITH (fillfactor = 70)`

  // Calls that were paid for, by how long they took: up_to_500_ms holds those of up_to_200_ms, too.
  yield* sql`CREATE TABLE trust_daily (
    provider_id uuid NOT NULL,
    day date NOT NULL,
    consumer_id uuid NOT NULL,
    paid int8 NOT NULL,
    paid_calls int4 NOT NULL,
    failed_calls int4 NOT NULL,
    input_rejected int4 NOT NULL,
    up_to_200_ms int4 NOT NULL,
    up_to_500_ms int4 NOT NULL,
    up_to_1000_ms int4 NOT NULL,
    up_to_2000_ms int4 NOT NULL,
    up_to_5000_ms int4 NOT NULL,
    longest_ms int4 NOT NULL,
    PRIMARY KEY (provider_id, day, consumer_id)
  ) WITH (fillfactor = 70)`

  const isFollowed = sql`NOT EXISTS (
    SELECT FROM receipts_unlogged u WHERE u.receipt_id = r.receipt_id AND u.consumer_id = r.consumer_id)`
  const isOwn = sql`(r.provider_id = r.consumer_id OR EXISTS (
    SELECT FROM providers p JOIN consumers c ON lower(c.email) = lower(p.email)
    WHERE p.id = r.provider_id AND c.id = r.consumer_id))`

  // Status 5: the provider rejected the input; 6: a cancellation was passed on.
  yield* sql`
    INSERT INTO tool_figures (tool_id, calls, successes, input_rejected, latency_ms, reported)
    SELECT tool_id, count(*) FILTER (WHERE origin = 1), count(*) FILTER (WHERE origin = 1 AND status = 1),
      count(*) FILTER (WHERE origin = 1 AND status = 5),
      coalesce(sum(duration_ms) FILTER (WHERE origin = 1 AND status <> 5), 0), count(*) FILTER (WHERE origin = 2)
    FROM receipts r WHERE ${isFollowed} AND (origin = 2 OR (status <> 6 AND NOT ${isOwn}))
    GROUP BY tool_id`

  yield* sql`
    INSERT INTO trust_daily (provider_id, day, consumer_id, paid, paid_calls, failed_calls, input_rejected, up_to_200_ms,
      up_to_500_ms, up_to_1000_ms, up_to_2000_ms, up_to_5000_ms, longest_ms)
    SELECT provider_id, (called_at AT TIME ZONE 'UTC')::date, consumer_id, sum(cost), count(*) FILTER (WHERE delivered),
      count(*) FILTER (WHERE status NOT IN (1, 5)), count(*) FILTER (WHERE status = 5), count(*) FILTER (WHERE delivered AND duration_ms <= 200),
      count(*) FILTER (WHERE delivered AND duration_ms <= 500), count(*) FILTER (WHERE delivered AND duration_ms <= 1000),
      count(*) FILTER (WHERE delivered AND duration_ms <= 2000), count(*) FILTER (WHERE delivered AND duration_ms <= 5000),
      coalesce(max(duration_ms) FILTER (WHERE delivered), 0)
    FROM (SELECT *, status = 1 AND cost > 0 AS delivered FROM receipts) r
    WHERE origin = 1 AND status <> 6 AND called_at >= now() - make_interval(days => ${TRUST_DAYS}) AND ${isFollowed} AND NOT ${isOwn}
      AND (cost > 0 OR status <> 1)
    GROUP BY 1, 2, 3`

  yield* sql`DROP TABLE provider_consumers`
})

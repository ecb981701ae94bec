/**
 * Days of paid calls in PostgreSQL, by provider and consumer.
 */
import type { Effect } from "effect"
import type { ConsumerId, ProviderId } from "../../../domain/shared/Ids.ts"
import {
  PAID_CONSUMER_MICROCENTS_MIN,
  PAID_CONSUMERS_READ_MAX,
  type PaidCalls,
  type PaidDay
} from "../../../domain/trust/PaidCalls.ts"
import { columnsOf } from "../shared/Columns.ts"
import type { StoreSql, StoreStatement } from "../shared/StoreSql.ts"
import type { StoreUnavailable } from "../../../domain/shared/StoreUnavailable.ts"

interface PaidCallsRow {
  readonly consumer_id: string
  readonly paid: bigint
  readonly paid_calls: bigint
  readonly failed_calls: bigint
  readonly input_rejected: bigint
  readonly up_to: ReadonlyArray<bigint>
  readonly longest_ms: number
}

/** One statement reads a day's row, adds to it and writes it back: only one sequencer runs at a time. */
export const addPaidDays = (sql: StoreSql, days: ReadonlyArray<PaidDay>): StoreStatement<object> => {
  const { int8, text, uuid } = columnsOf(days)
  return sql`
    INSERT INTO trust_daily AS t (provider_id, consumer_id, day, paid, paid_calls, failed_calls, input_rejected,
      up_to_200_ms, up_to_500_ms, up_to_1000_ms, up_to_2000_ms, up_to_5000_ms, longest_ms)
    SELECT provider_id, consumer_id, d.day::date, paid, paid_calls, failed_calls, input_rejected, a, b, c, e, f, longest
    FROM unnest(${uuid((day) => day.providerId)}, ${uuid((day) => day.consumerId)}, ${text((day) => day.date)}, ${int8((day) => day.paidMicrocents)}, ${int8((day) => day.paidCalls)}, ${int8((day) => day.failedCalls)}, ${int8((day) => day.inputRejected)},
      ${int8((day) => day.upTo[0]!)}, ${int8((day) => day.upTo[1]!)}, ${int8((day) => day.upTo[2]!)},
      ${int8((day) => day.upTo[3]!)}, ${int8((day) => day.upTo[4]!)}, ${int8((day) => day.longestMs)})
      AS d (provider_id, consumer_id, day, paid, paid_calls, failed_calls, input_rejected, a, b, c, e, f, longest)
    ON CONFLICT (provider_id, day, consumer_id) DO UPDATE SET paid = t.paid + excluded.paid,
      paid_calls = t.paid_calls + excluded.paid_calls, failed_calls = t.failed_calls + excluded.failed_calls,
      input_rejected = t.input_rejected + excluded.input_rejected,
      up_to_200_ms = t.up_to_200_ms + excluded.up_to_200_ms, up_to_500_ms = t.up_to_500_ms + excluded.up_to_500_ms,
      up_to_1000_ms = t.up_to_1000_ms + excluded.up_to_1000_ms, up_to_2000_ms = t.up_to_2000_ms + excluded.up_to_2000_ms,
      up_to_5000_ms = t.up_to_5000_ms + excluded.up_to_5000_ms, longest_ms = greatest(t.longest_ms, excluded.longest_ms)`
}

export const readPayers = (
  sql: StoreSql,
  providerId: ProviderId,
  sinceDate: string
): Effect.Effect<ReadonlyArray<PaidCalls>, StoreUnavailable> =>
  sql<PaidCallsRow>`
    SELECT consumer_id, sum(paid)::int8 AS paid, sum(paid_calls)::int8 AS paid_calls,
      sum(failed_calls)::int8 AS failed_calls, sum(input_rejected)::int8 AS input_rejected,
      ARRAY[sum(up_to_200_ms), sum(up_to_500_ms), sum(up_to_1000_ms), sum(up_to_2000_ms), sum(up_to_5000_ms)]::int8[]
        AS up_to,
      max(longest_ms) AS longest_ms
    FROM trust_daily WHERE provider_id = ${providerId} AND day >= ${sinceDate}::text::date
    GROUP BY consumer_id HAVING sum(paid) >= ${PAID_CONSUMER_MICROCENTS_MIN}
    ORDER BY sum(paid) DESC, consumer_id LIMIT ${PAID_CONSUMERS_READ_MAX}`.all(toPaidCalls)

/** Not a `rowReader`: there are thousands of rows. */
const toPaidCalls = (row: PaidCallsRow): PaidCalls => ({
  consumerId: row.consumer_id as ConsumerId,
  paidMicrocents: row.paid,
  paidCalls: Number(row.paid_calls),
  failedCalls: Number(row.failed_calls),
  inputRejected: Number(row.input_rejected),
  upTo: row.up_to.map(Number),
  longestMs: row.longest_ms
})

/**
 * Lifetime figures of tools, and which consumers ever called through the proxy, in PostgreSQL. Hours and days are
 * pruned; these rows stay.
 */
import type { Followed } from "../../../domain/trust/SlaStore.ts"
import { column, columnsOf, OID } from "../shared/Columns.ts"
import type { StoreSql, StoreStatement } from "../shared/StoreSql.ts"

export const addToolFigures = (sql: StoreSql, { consumers, hours, tools }: Followed): StoreStatement<object> => {
  const { int8, timestamptz, uuid } = columnsOf([
    ...hours.flatMap((hour) => (hour.toolId === undefined ? [] : [{ ...NO_CALLS, ...hour, toolId: hour.toolId }])),
    ...tools.map((tool) => ({ ...NO_CALLS, ...tool }))
  ])
  return sql`
    WITH seen AS (
      INSERT INTO proxied_consumers SELECT id FROM unnest(${column(consumers, OID.uuid)}) AS id ORDER BY id
      ON CONFLICT DO NOTHING
    )
    INSERT INTO tool_figures AS t (tool_id, calls, successes, input_rejected, latency_ms, reported, free_calls,
      last_called_at)
    SELECT tool_id, sum(calls), sum(successes), sum(input_rejected), sum(latency_ms), sum(reported), sum(free_calls),
      max(last_called_at)
    FROM unnest(${uuid((one) => one.toolId)}, ${int8((one) => one.calls)}, ${int8((one) => one.successes)},
      ${int8((one) => one.inputRejected)}, ${int8((one) => one.latencyMs)}, ${int8((one) => one.reported)},
      ${int8((one) => one.freeCalls)},
      ${timestamptz(({ lastCalledAt }) => (lastCalledAt === undefined ? null : Date.parse(lastCalledAt)))})
      AS d (tool_id, calls, successes, input_rejected, latency_ms, reported, free_calls, last_called_at)
    GROUP BY tool_id ORDER BY tool_id
    ON CONFLICT (tool_id) DO UPDATE SET calls = t.calls + excluded.calls,
      successes = t.successes + excluded.successes, input_rejected = t.input_rejected + excluded.input_rejected,
      latency_ms = t.latency_ms + excluded.latency_ms, reported = t.reported + excluded.reported,
      free_calls = t.free_calls + excluded.free_calls,
      last_called_at = greatest(t.last_called_at, excluded.last_called_at)`
}

const NO_CALLS = {
  calls: 0,
  successes: 0,
  inputRejected: 0,
  latencyMs: 0,
  reported: 0,
  freeCalls: 0,
  lastCalledAt: undefined as string | undefined
}

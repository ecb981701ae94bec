/**
 * How rows enter `usage_hourly`, which totals calls by consumer, hour, tool and provider.
 */
import type { Statement } from "effect/sql"
import type { StoreSql, StoreStatement } from "../shared/StoreSql.ts"

const TOTALS = [
  "calls",
  "successes",
  "timeouts",
  "spend",
  "fee",
  "latency_ms",
  "request_bytes",
  "response_bytes",
  "tokens_input",
  "tokens_output"
]
const KEY = "consumer_id, hour, tool_id, provider_id"

/** Adds rows with the columns of `usage_hourly`, in the order of their keys, in which other nodes lock them too. */
export const addUsage = (sql: StoreSql, rows: Statement.Fragment, hour = "hour"): StoreStatement<object> => sql`
  INSERT INTO usage_hourly AS u (${sql.literal(`${KEY}, ${TOTALS.join(", ")}`)})
  SELECT consumer_id, ${sql.literal(hour)}, tool_id, provider_id,
    ${sql.literal(TOTALS.map((column) => `sum(${column})`).join(", "))}
  FROM ${rows} GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4
  ON CONFLICT (${sql.literal(KEY)}) DO UPDATE SET
    ${sql.literal(TOTALS.map((column) => `${column} = u.${column} + excluded.${column}`).join(", "))}`

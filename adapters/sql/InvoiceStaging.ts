/**
 * A month's sums: its calls by consumer, tool and price, and what else moved balances. A call belongs to the month in
 * which it was recorded, as its transfers do.
 */
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { MonthSpan } from "../../domain/invoices/InvoiceStore.ts"
import { ROLE } from "./InvoiceRows.ts"
import { ACCOUNT_CODE, TRANSFER_CODE } from "./LedgerCodes.ts"
import { toDate } from "./Instants.ts"

export const stageMonth = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, { end, month, start }: MonthSpan) {
  // A provider's own test calls stand under its own id, which is no consumer's, and cost nothing.
  yield* sql`
    INSERT INTO invoice_usage (month, consumer_id, provider_id, tool_id, price_version, tool_name, calls, billed, free,
      failed, amount, fee)
    SELECT ${month}, r.consumer_id, r.provider_id, r.tool_id, r.price_version, min(r.tool_name), count(*),
      count(*) FILTER (WHERE r.cost > 0), count(*) FILTER (WHERE r.cost = 0 AND r.status = 1),
      count(*) FILTER (WHERE r.cost = 0 AND r.status <> 1), sum(r.cost), sum(r.fee)
    FROM receipts r
    WHERE r.created_at >= ${toDate(start)} AND r.created_at < ${toDate(end)} AND r.consumer_id <> r.provider_id
    GROUP BY r.consumer_id, r.provider_id, r.tool_id, r.price_version`.unprepared
  const { provider, provider_frozen, wallet } = ACCOUNT_CODE
  const { freeze } = TRANSFER_CODE
  yield* sql`
    INSERT INTO invoice_movements (month, owner_id, role, kind, amount)
    SELECT ${month}, owner_id, role, kind, sum(amount)::int8 FROM (
      SELECT consumer_id AS owner_id, ${ROLE.consumer}::int2 AS role, kind,
        CASE WHEN credit = ${wallet}::int2 THEN amount ELSE -amount END AS amount
      FROM transfers WHERE reference IS NOT NULL AND recorded_at >= ${toDate(start)} AND recorded_at < ${toDate(end)}
        AND (credit = ${wallet}::int2 OR debit = ${wallet}::int2)
      UNION ALL
      SELECT provider_id, ${ROLE.provider}::int2, kind,
        CASE WHEN credit = ${provider}::int2 THEN amount ELSE -amount END
      FROM transfers WHERE reference IS NOT NULL AND recorded_at >= ${toDate(start)} AND recorded_at < ${toDate(end)}
        AND (credit = ${provider}::int2 OR debit IN (${provider}::int2, ${provider_frozen}::int2))
        AND kind <> ${freeze}::int2
    ) moved GROUP BY owner_id, role, kind`.unprepared
  // Loads alone need no document.
  yield* sql`
    INSERT INTO invoice_pending (month, role, owner_id)
    SELECT DISTINCT ${month}, ${ROLE.consumer}::int2, consumer_id FROM invoice_usage WHERE month = ${month}
    UNION SELECT ${month}, ${ROLE.provider}::int2, provider_id FROM invoice_usage WHERE month = ${month}
    UNION SELECT ${month}, role, owner_id FROM invoice_movements WHERE month = ${month} AND kind = 4`.unprepared
})

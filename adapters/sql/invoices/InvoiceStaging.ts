/**
 * A month's totals: its calls by consumer, tool and price, and all other movements of balances. A call belongs to the
 * month in which it was recorded, as do its transfers. What earlier parts of the month cover is left out.
 */
import { Effect } from "effect"
import type { MonthSpan } from "../../../domain/invoices/Invoice.ts"
import { ACCOUNT_CODE, TRANSFER_CODE } from "../ledger/LedgerCodes.ts"
import { toDate } from "../shared/Instants.ts"
import type { StoreSql } from "../shared/StoreSql.ts"
import { ROLE } from "./InvoiceRows.ts"

export const stageMonth = Effect.fnUntraced(function* (sql: StoreSql, { end, month, start }: MonthSpan, part: number) {
  // A provider's own test calls have its own id, which is not a consumer's, and cost nothing.
  yield* sql`
    INSERT INTO invoice_usage (month, part, consumer_id, provider_id, tool_id, price_version, tool_name, calls, billed,
      free, failed, amount, fee)
    SELECT ${month}, ${part}::int4, n.consumer_id, n.provider_id, n.tool_id, n.price_version, n.tool_name,
      n.calls - coalesce(told.calls, 0), n.billed - coalesce(told.billed, 0), n.free - coalesce(told.free, 0),
      n.failed - coalesce(told.failed, 0), n.amount - coalesce(told.amount, 0), n.fee - coalesce(told.fee, 0)
    FROM (
      SELECT r.consumer_id, r.provider_id, r.tool_id, r.price_version, min(r.tool_name) AS tool_name, count(*) AS calls,
        count(*) FILTER (WHERE r.cost > 0) AS billed, count(*) FILTER (WHERE r.cost = 0 AND r.status = 1) AS free,
        count(*) FILTER (WHERE r.cost = 0 AND r.status <> 1) AS failed, sum(r.cost)::int8 AS amount, sum(r.fee)::int8 AS fee
      FROM receipts r
      WHERE r.created_at >= ${toDate(start)} AND r.created_at < ${toDate(end)} AND r.consumer_id <> r.provider_id
      GROUP BY r.consumer_id, r.provider_id, r.tool_id, r.price_version
    ) n LEFT JOIN (
      SELECT consumer_id, provider_id, tool_id, price_version, sum(calls)::int8 AS calls, sum(billed)::int8 AS billed,
        sum(free)::int8 AS free, sum(failed)::int8 AS failed, sum(amount)::int8 AS amount, sum(fee)::int8 AS fee
      FROM invoice_usage WHERE month = ${month} GROUP BY consumer_id, provider_id, tool_id, price_version
    ) told USING (consumer_id, provider_id, tool_id, price_version)
    WHERE n.calls > coalesce(told.calls, 0)`.unprepared
  const { provider, provider_frozen, wallet } = ACCOUNT_CODE
  const { freeze } = TRANSFER_CODE
  yield* sql`
    INSERT INTO invoice_movements (month, part, owner_id, role, kind, amount)
    SELECT ${month}, ${part}::int4, owner_id, role, kind, n.amount - coalesce(told.amount, 0) FROM (
    SELECT owner_id, role, kind, sum(amount)::int8 AS amount FROM (
      SELECT consumer_id AS owner_id, ${ROLE.consumer}::int2 AS role, kind,
        CASE WHEN credit = ${wallet}::int2 THEN amount ELSE -amount END AS amount
      FROM posted_transfers WHERE recorded_at >= ${toDate(start)} AND recorded_at < ${toDate(end)}
        AND (credit = ${wallet}::int2 OR debit = ${wallet}::int2)
      UNION ALL
      SELECT provider_id, ${ROLE.provider}::int2, kind,
        CASE WHEN credit = ${provider}::int2 THEN amount ELSE -amount END
      FROM posted_transfers WHERE recorded_at >= ${toDate(start)} AND recorded_at < ${toDate(end)}
        AND (credit = ${provider}::int2 OR debit IN (${provider}::int2, ${provider_frozen}::int2))
        AND kind <> ${freeze}::int2
    ) moved GROUP BY owner_id, role, kind) n LEFT JOIN (
      SELECT owner_id, role, kind, sum(amount)::int8 AS amount FROM invoice_movements WHERE month = ${month}
      GROUP BY owner_id, role, kind
    ) told USING (owner_id, role, kind)
    WHERE told.amount IS NULL OR told.amount <> n.amount`.unprepared
  // Loads alone need no document.
  yield* sql`
    INSERT INTO invoice_pending (month, role, owner_id)
    SELECT DISTINCT ${month}, ${ROLE.consumer}::int2, consumer_id FROM invoice_usage
      WHERE month = ${month} AND part = ${part}
    UNION SELECT ${month}, ${ROLE.provider}::int2, provider_id FROM invoice_usage
      WHERE month = ${month} AND part = ${part}
    UNION SELECT ${month}, role, owner_id FROM invoice_movements
      WHERE month = ${month} AND part = ${part} AND kind = 4`.unprepared
})

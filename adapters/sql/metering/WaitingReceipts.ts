/**
 * Rows of `receipts_unlogged`: each has the receipts of calls that were closed together, which wait for the log.
 */
import type { Statement } from "effect/sql"
import { addEarnings } from "../ledger/EarningRows.ts"
import { addUsage } from "./UsageRows.ts"
import type { StoreSql, StoreStatement } from "../shared/StoreSql.ts"

/** The keys of whole rows that have `limit` receipts together, or of all rows. */
export const waitingRows = (
  sql: StoreSql,
  limit: number,
  isWanted: Statement.Fragment = sql`true`,
  lock: Statement.Fragment = sql``
): StoreStatement<object> => sql`
  SELECT first_receipt FROM (
    SELECT first_receipt, sum(receipts) OVER (ROWS UNBOUNDED PRECEDING) - receipts AS receipts_before FROM (
      SELECT first_receipt, cardinality(receipt_ids) AS receipts FROM receipts_unlogged
      WHERE ${isWanted} LIMIT ${limit} ${lock}) w
  ) n WHERE receipts_before < ${limit}`

/** Queries of a WITH that count the receipts of the rows `w`, once: in the usage, and in the balances of those who earned. */
export const counting = (sql: StoreSql, rows: Statement.Fragment): Statement.Fragment => sql`
  counted AS MATERIALIZED (
    SELECT u.* FROM ${rows} CROSS JOIN LATERAL usage_of(w.receipt_ids) u WHERE NOT w.counted
  ), counted_usage AS (
    ${addUsage(sql, sql`counted`)}
  ), counted_earnings AS (
    ${addEarnings(sql, sql`counted c CROSS JOIN LATERAL earnings_of(c.provider_id, c.settled_on, c.spend, c.fee)`)}
  )`

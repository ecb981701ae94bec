/**
 * Rows of `receipts_unlogged`: each has the receipts of calls that were closed together, which wait for the log.
 */
import type { Statement } from "effect/sql"
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

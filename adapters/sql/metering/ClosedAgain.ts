/**
 * Calls that were acknowledged, whose closing a failover lost and whose opening it kept. The hold is still there, so they
 * are closed again, with the receipt that the caller has. Only an open call is closed, so none is charged twice.
 */
import type { Effect } from "effect"
import type { StoreUnavailable } from "../../../domain/shared/StoreUnavailable.ts"
import { receiptOfUuid, uuidOfReceipt } from "../ledger/LedgerCodes.ts"
import type { StoreSql } from "../shared/StoreSql.ts"
import type { ClosedTogether } from "./RecentClosings.ts"

/**
 * Returns the receipts of those that were closed now. A stored response is lost: its key stays bound to the receipt. In the
 * order of wallets, as every batch locks them.
 */
export const closeAgain = (
  sql: StoreSql,
  closings: ReadonlyArray<ClosedTogether>
): Effect.Effect<ReadonlyArray<string>, StoreUnavailable> => {
  const keyed = closings.flatMap((one) => one.keyed)
  const rows = `{${closings.map((one) => one.rows).join(",")}}`
  return sql<{ readonly receipt_id: string }>`
    SELECT lost.receipt_id FROM (
      SELECT c.receipt_id, jsonb_populate_record(c, jsonb_build_object('place', 1,
        'answer_headers', CASE WHEN c.answer_status IS NOT NULL THEN k.mark END)) AS closing
      FROM unnest(${rows}::call_closing[]) c
      JOIN calls_open o ON o.invocation_id = c.receipt_id AND o.consumer_id = c.consumer_id
      LEFT JOIN unnest(${keyed.map(({ receiptId }) => uuidOfReceipt(receiptId))}::uuid[],
        ${keyed.map(({ mark }) => mark)}::text[]) AS k (receipt_id, mark) ON k.receipt_id = c.receipt_id
      WHERE c.cost <= o.held AND c.fee_bps = o.fee_bps
        AND c.receipt_id <> ALL (${closings.flatMap((one) => one.unused.map(uuidOfReceipt))}::uuid[])
      ORDER BY c.consumer_id, c.receipt_id
    ) lost, LATERAL calls_close(lost.closing, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, ARRAY[''::bytea], NULL) closed
    WHERE closed.holds[1] IS NOT NULL`.unprepared.all((row) => receiptOfUuid(row.receipt_id))
}

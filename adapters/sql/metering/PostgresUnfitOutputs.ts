/**
 * Paid calls whose output does not match the tool's output schema, in PostgreSQL.
 */
import { Effect, Layer } from "effect"
import { UnfitOutputs } from "../../../domain/metering/Settlement.ts"
import { uuidOfReceipt } from "../ledger/LedgerCodes.ts"
import { toDate } from "../shared/Instants.ts"
import { prune } from "../shared/Prune.ts"
import { storeSql } from "../shared/StoreSql.ts"

export const layer = Layer.effect(
  UnfitOutputs,
  Effect.gen(function* () {
    const sql = yield* storeSql

    return UnfitOutputs.of({
      note: Effect.fn("PostgresUnfitOutputs.note")(
        ({ consumerId, receiptId }, at) => sql`
          INSERT INTO unfit_outputs (consumer_id, receipt_id, noted_at)
          VALUES (${consumerId}, ${uuidOfReceipt(receiptId)}, ${toDate(at)}) ON CONFLICT DO NOTHING`,
        Effect.asVoid
      ),

      isRecorded: Effect.fn("PostgresUnfitOutputs.isRecorded")(
        ({ consumerId, receiptId }) =>
          sql`
            SELECT 1 AS noted FROM unfit_outputs
            WHERE consumer_id = ${consumerId} AND receipt_id = ${uuidOfReceipt(receiptId)}`.hasRows
      ),

      prune: Effect.fn("PostgresUnfitOutputs.prune")((before, limit) =>
        prune(sql, "unfit_outputs", sql`noted_at < ${toDate(before)}`, limit)
      )
    })
  })
)

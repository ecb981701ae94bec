/**
 * Spending of a consumer's calls per lot, in PostgreSQL.
 */
import { Effect, Layer } from "effect"
import { type EarnedFrom, SpendingByLot } from "../../../domain/payments/SpendingByLot.ts"
import { column, OID } from "../shared/Columns.ts"
import { toDate } from "../shared/Instants.ts"
import { uuidOfReceipt } from "../ledger/LedgerCodes.ts"
import { rowReader } from "../shared/RowReader.ts"
import { storeSql } from "../shared/StoreSql.ts"

export const layer = Layer.effect(
  SpendingByLot,
  Effect.gen(function* () {
    const sql = yield* storeSql

    return SpendingByLot.of({
      since: Effect.fn("PostgresSpendingByLot.since")((consumerId, settledFrom, without) =>
        sql`
          SELECT r.provider_id, (r.created_at AT TIME ZONE 'UTC')::date::text AS day, sum(r.cost - r.fee)::int8 AS net
          FROM receipts r
          WHERE r.consumer_id = ${consumerId} AND r.created_at >= ${toDate(settledFrom)} AND r.cost > r.fee
            AND r.receipt_id <> ALL (${column(without.map(uuidOfReceipt), OID.uuid)})
          GROUP BY r.provider_id, day ORDER BY day, r.provider_id`.all(rowReader<EarnedFrom>())
      )
    })
  })
)

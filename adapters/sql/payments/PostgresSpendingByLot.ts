/**
 * Spending of a consumer's calls per lot, in PostgreSQL.
 */
import { type DateTime, Effect, Layer } from "effect"
import { SpendingByLot } from "../../../domain/payments/SpendingByLot.ts"
import { type ConsumerId, ProviderId, type ReceiptId } from "../../../domain/shared/Ids.ts"
import { column, OID } from "../shared/Columns.ts"
import { toDate } from "../shared/Instants.ts"
import { uuidOfReceipt } from "../ledger/LedgerCodes.ts"
import { storeSql } from "../shared/StoreSql.ts"

interface EarnedRow {
  readonly provider_id: string
  readonly day: string
  readonly net: bigint
}

export const layer = Layer.effect(
  SpendingByLot,
  Effect.gen(function* () {
    const sql = yield* storeSql

    const since = Effect.fn("PostgresSpendingByLot.since")(function* (
      consumerId: ConsumerId,
      settledFrom: DateTime.Utc,
      without: ReadonlyArray<ReceiptId>
    ) {
      const rows = yield* sql<EarnedRow>`
        SELECT r.provider_id, (r.created_at AT TIME ZONE 'UTC')::date::text AS day, sum(r.cost - r.fee)::int8 AS net
        FROM receipts r
        WHERE r.consumer_id = ${consumerId} AND r.created_at >= ${toDate(settledFrom)} AND r.cost > r.fee
          AND r.receipt_id <> ALL (${column(without.map(uuidOfReceipt), OID.uuid)})
        GROUP BY r.provider_id, day ORDER BY day, r.provider_id`
      return rows.map(({ day, net, provider_id }) => ({ providerId: ProviderId.make(provider_id), day, net }))
    })

    return SpendingByLot.of({ since })
  })
)

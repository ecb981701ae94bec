/**
 * Frozen accounts in PostgreSQL: a flag of the wallet, which the functions that open calls lock and read anyway.
 */
import { Effect, Layer } from "effect"
import { type Freeze, FreezeStore } from "../../../domain/payments/FreezeStore.ts"
import { ConsumerId } from "../../../domain/shared/Ids.ts"
import { toDate } from "../shared/Instants.ts"
import { rowReader } from "../shared/RowReader.ts"
import { storeSql } from "../shared/StoreSql.ts"

export const layer = Layer.effect(
  FreezeStore,
  Effect.gen(function* () {
    const sql = yield* storeSql
    return FreezeStore.of({
      freeze: Effect.fn("PostgresFreezeStore.freeze")(
        (consumerId, { at, reason }) => sql`
          INSERT INTO wallets AS w (consumer_id, frozen, frozen_at, frozen_reason)
          VALUES (${consumerId}, true, ${toDate(at)}, ${reason})
          ON CONFLICT (consumer_id) DO UPDATE SET frozen = true, frozen_at = coalesce(w.frozen_at, excluded.frozen_at),
            frozen_reason = excluded.frozen_reason`,
        Effect.asVoid
      ),

      unfreeze: Effect.fn("PostgresFreezeStore.unfreeze")(
        (consumerId) =>
          sql`
            UPDATE wallets SET frozen = false, frozen_at = NULL, frozen_reason = NULL
            WHERE consumer_id = ${consumerId} AND frozen RETURNING consumer_id`.hasRows
      ),

      find: Effect.fn("PostgresFreezeStore.find")((consumerId) =>
        sql`
          SELECT frozen_reason AS reason, frozen_at AS at FROM wallets
          WHERE consumer_id = ${consumerId} AND frozen`.first(rowReader<Freeze>())
      ),

      frozen: Effect.fn("PostgresFreezeStore.frozen")((after, limit) =>
        sql<{ readonly consumer_id: string }>`
          SELECT consumer_id FROM wallets
          WHERE frozen AND (${after ?? null}::uuid IS NULL OR consumer_id > ${after ?? null}::uuid)
          ORDER BY consumer_id LIMIT ${limit}`.all((row) => ConsumerId.make(row.consumer_id))
      )
    })
  })
)

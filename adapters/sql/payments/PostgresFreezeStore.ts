/**
 * Frozen accounts in PostgreSQL: a flag of the wallet, which the functions that open calls lock and read anyway.
 */
import { Effect, Layer } from "effect"
import { type Freeze, FreezeStore } from "../../../domain/payments/AccountFreezes.ts"
import { ConsumerId } from "../../../domain/shared/Ids.ts"
import { toDate } from "../shared/Instants.ts"
import { rowReader } from "../shared/RowReader.ts"
import { storeSql } from "../shared/StoreSql.ts"

const toFreeze = rowReader<Freeze>()

export const layer = Layer.effect(
  FreezeStore,
  Effect.gen(function* () {
    const sql = yield* storeSql
    return FreezeStore.of({
      freeze: Effect.fn("PostgresFreezeStore.freeze")(
        (consumerId, { at, byOperator, reason }) => sql`
          INSERT INTO wallets AS w (consumer_id, frozen, frozen_at, frozen_reason, frozen_by_operator)
          VALUES (${consumerId}, true, ${toDate(at)}, ${reason}, ${byOperator})
          ON CONFLICT (consumer_id) DO UPDATE SET frozen = true, frozen_at = coalesce(w.frozen_at, excluded.frozen_at),
            frozen_reason = excluded.frozen_reason, frozen_by_operator = excluded.frozen_by_operator
          WHERE NOT w.frozen_by_operator OR excluded.frozen_by_operator`,
        Effect.asVoid
      ),

      unfreeze: Effect.fn("PostgresFreezeStore.unfreeze")(
        (consumerId) =>
          sql`
            UPDATE wallets SET frozen = false, frozen_at = NULL, frozen_reason = NULL, frozen_by_operator = false
            WHERE consumer_id = ${consumerId} AND frozen RETURNING consumer_id`.hasRows
      ),

      find: Effect.fn("PostgresFreezeStore.find")((consumerId) =>
        sql`
          SELECT frozen_reason AS reason, frozen_at AS at, frozen_by_operator AS by_operator FROM wallets
          WHERE consumer_id = ${consumerId} AND frozen`.first(toFreeze)
      ),

      findAll: Effect.fn("PostgresFreezeStore.findAll")((ids) =>
        Effect.map(
          sql<{ readonly consumer_id: string }>`
            SELECT consumer_id, frozen_reason AS reason, frozen_at AS at, frozen_by_operator AS by_operator FROM wallets
            WHERE consumer_id = ANY (${ids}::uuid[]) AND frozen`.all(
            ({ consumer_id: id, ...freeze }) => [ConsumerId.make(id), toFreeze(freeze)] as const
          ),
          (found) => new Map(found)
        )
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

/**
 * Frozen accounts in PostgreSQL: a flag of the wallet, which the functions that open calls lock and read anyway.
 */
import { Array as Arr, Effect, Layer, Option } from "effect"
import { type Freeze, FreezeStore } from "../../../domain/payments/FreezeStore.ts"
import { ConsumerId } from "../../../domain/shared/Ids.ts"
import { toDate, toInstant } from "../shared/Instants.ts"
import { storeSql } from "../shared/StoreSql.ts"

interface FreezeRow {
  readonly frozen_reason: string
  readonly frozen_at: Date
}

export const layer = Layer.effect(
  FreezeStore,
  Effect.gen(function* () {
    const sql = yield* storeSql

    const freeze = Effect.fn("PostgresFreezeStore.freeze")(function* (consumerId: ConsumerId, { at, reason }: Freeze) {
      yield* sql`INSERT INTO wallets AS w (consumer_id, frozen, frozen_at, frozen_reason)
        VALUES (${consumerId}, true, ${toDate(at)}, ${reason})
        ON CONFLICT (consumer_id) DO UPDATE
        SET frozen = true, frozen_at = coalesce(w.frozen_at, excluded.frozen_at), frozen_reason = excluded.frozen_reason`
    })

    const unfreeze = Effect.fn("PostgresFreezeStore.unfreeze")(function* (consumerId: ConsumerId) {
      const rows = yield* sql`UPDATE wallets SET frozen = false, frozen_at = NULL, frozen_reason = NULL
        WHERE consumer_id = ${consumerId} AND frozen RETURNING consumer_id`
      return rows.length === 1
    })

    const find = Effect.fn("PostgresFreezeStore.find")(function* (consumerId: ConsumerId) {
      const rows = yield* sql<FreezeRow>`SELECT frozen_reason, frozen_at FROM wallets
        WHERE consumer_id = ${consumerId} AND frozen`
      return Option.map(Arr.head(rows), (row) => ({ reason: row.frozen_reason, at: toInstant(row.frozen_at) }))
    })

    const frozen = Effect.fn("PostgresFreezeStore.frozen")(function* (after: ConsumerId | undefined, limit: number) {
      const rows = yield* sql<{ readonly consumer_id: string }>`SELECT consumer_id FROM wallets
        WHERE frozen AND (${after ?? null}::uuid IS NULL OR consumer_id > ${after ?? null}::uuid)
        ORDER BY consumer_id LIMIT ${limit}`
      return rows.map((row) => ConsumerId.make(row.consumer_id))
    })

    return FreezeStore.of({ freeze, unfreeze, find, frozen })
  })
)

/**
 * Which consumer each key of a provider bills, in PostgreSQL. One statement each: the row lock orders concurrent
 * reports.
 */
import { Effect, Layer } from "effect"
import { MeterKeyStore } from "../../../domain/metering/DirectMetering.ts"
import { toDate } from "../shared/Instants.ts"
import { prune } from "../shared/Prune.ts"
import { storeSql } from "../shared/StoreSql.ts"

export const layer = Layer.effect(
  MeterKeyStore,
  Effect.gen(function* () {
    const sql = yield* storeSql

    return MeterKeyStore.of({
      bind: Effect.fn("PostgresMeterKeyStore.bind")(
        ({ consumerId, keyHash, providerId }, at) =>
          sql`
            INSERT INTO meter_keys AS k (provider_id, key_hash, consumer_id, bindings, bound_at)
            VALUES (${providerId}, decode(${keyHash}, 'hex'), ${consumerId}, 1, ${toDate(at)})
            ON CONFLICT (provider_id, key_hash) DO UPDATE SET consumer_id = excluded.consumer_id,
              bindings = k.bindings + 1, bound_at = greatest(k.bound_at, excluded.bound_at)
            WHERE k.consumer_id = excluded.consumer_id OR k.bindings = 0
            RETURNING 1 AS bound`.hasRows
      ),

      release: Effect.fn("PostgresMeterKeyStore.release")(
        ({ consumerId, keyHash, providerId }) => sql`
          UPDATE meter_keys SET bindings = bindings - 1
          WHERE provider_id = ${providerId} AND key_hash = decode(${keyHash}, 'hex') AND consumer_id = ${consumerId}
            AND bindings > 0`,
        Effect.asVoid
      ),

      prune: Effect.fn("PostgresMeterKeyStore.prune")((before, limit) =>
        prune(sql, "meter_keys", sql`bound_at < ${toDate(before)}`, limit)
      )
    })
  })
)

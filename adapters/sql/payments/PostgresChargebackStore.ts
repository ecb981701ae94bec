/**
 * Chargebacks in PostgreSQL.
 */
import { Effect, Layer } from "effect"
import { type Chargeback, ChargebackStore } from "../../../domain/payments/ChargebackStore.ts"
import { toDate } from "../shared/Instants.ts"
import { rowReader } from "../shared/RowReader.ts"
import { storeSql } from "../shared/StoreSql.ts"

const toChargeback = rowReader<Chargeback>({ chargeback_id: "id" }, { amount_cents: Number })

export const layer = Layer.effect(
  ChargebackStore,
  Effect.gen(function* () {
    const sql = yield* storeSql
    return ChargebackStore.of({
      find: Effect.fn("PostgresChargebackStore.find")((id) =>
        sql`SELECT * FROM chargebacks WHERE chargeback_id = ${id}`.first(toChargeback)
      ),

      put: Effect.fn("PostgresChargebackStore.put")(
        (one) => sql`
          INSERT INTO chargebacks (chargeback_id, load_id, consumer_id, amount_cents, state, funds, released,
            opened_at, updated_at)
          VALUES (${one.id}, ${one.loadId}, ${one.consumerId}, ${BigInt(one.amountCents)}, ${one.state}, ${one.funds},
            ${one.released}, ${toDate(one.openedAt)}, ${toDate(one.updatedAt)})
          ON CONFLICT (chargeback_id) DO UPDATE SET state = excluded.state, funds = excluded.funds,
            released = excluded.released, updated_at = excluded.updated_at`,
        Effect.asVoid
      ),

      ofConsumer: Effect.fn("PostgresChargebackStore.ofConsumer")((consumerId) =>
        sql`
          SELECT * FROM chargebacks WHERE consumer_id = ${consumerId} ORDER BY opened_at, chargeback_id`.all(
          toChargeback
        )
      )
    })
  })
)

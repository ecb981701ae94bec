/**
 * Chargebacks in PostgreSQL.
 */
import { Array as Arr, Effect, Layer, Option } from "effect"
import { type Chargeback, ChargebackStore } from "../../../domain/payments/ChargebackStore.ts"
import { ConsumerId, LoadId } from "../../../domain/shared/Ids.ts"
import { toDate, toInstant } from "../shared/Instants.ts"
import { storeSql } from "../shared/StoreSql.ts"

interface ChargebackRow {
  readonly chargeback_id: string
  readonly load_id: string
  readonly consumer_id: string
  readonly amount_cents: bigint
  readonly state: Chargeback["state"]
  readonly funds: Chargeback["funds"]
  readonly released: boolean
  readonly opened_at: Date
  readonly updated_at: Date
}

export const layer = Layer.effect(
  ChargebackStore,
  Effect.gen(function* () {
    const sql = yield* storeSql

    const find = Effect.fn("PostgresChargebackStore.find")(function* (id: string) {
      const rows = yield* sql<ChargebackRow>`SELECT * FROM chargebacks WHERE chargeback_id = ${id}`
      return Option.map(Arr.head(rows), toChargeback)
    })

    const put = Effect.fn("PostgresChargebackStore.put")(function* (one: Chargeback) {
      yield* sql`INSERT INTO chargebacks (chargeback_id, load_id, consumer_id, amount_cents, state, funds, released,
          opened_at, updated_at)
        VALUES (${one.id}, ${one.loadId}, ${one.consumerId}, ${BigInt(one.amountCents)}, ${one.state}, ${one.funds},
          ${one.released}, ${toDate(one.openedAt)}, ${toDate(one.updatedAt)})
        ON CONFLICT (chargeback_id) DO UPDATE SET state = excluded.state, funds = excluded.funds,
          released = excluded.released, updated_at = excluded.updated_at`
    })

    const ofConsumer = Effect.fn("PostgresChargebackStore.ofConsumer")(function* (consumerId: ConsumerId) {
      const rows = yield* sql<ChargebackRow>`SELECT * FROM chargebacks WHERE consumer_id = ${consumerId}
        ORDER BY opened_at, chargeback_id`
      return rows.map(toChargeback)
    })

    return ChargebackStore.of({ find, put, ofConsumer })
  })
)

const toChargeback = (row: ChargebackRow): Chargeback => ({
  id: row.chargeback_id,
  loadId: LoadId.make(row.load_id),
  consumerId: ConsumerId.make(row.consumer_id),
  amountCents: Number(row.amount_cents),
  state: row.state,
  funds: row.funds,
  released: row.released,
  openedAt: toInstant(row.opened_at),
  updatedAt: toInstant(row.updated_at)
})

/**
 * Chargebacks in PostgreSQL.
 */
import { DateTime, Effect, Layer } from "effect"
import { type Chargeback, ChargebackStore } from "../../../domain/payments/AccountFreezes.ts"
import { COUNTED_MAX, pageOf } from "../../../domain/shared/Page.ts"
import { toDate } from "../shared/Instants.ts"
import { timeIn } from "../shared/NewestFirst.ts"
import { rowReader } from "../shared/RowReader.ts"
import { storeSql } from "../shared/StoreSql.ts"

const toChargeback = rowReader<Chargeback>({ chargeback_id: "id" }, { amount_cents: Number })

/** A cursor comes from the client: no text contains a NUL. */
const storable = (id = ""): string => id.replaceAll("\0", "")

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

      list: Effect.fn("PostgresChargebackStore.list")(function* (page) {
        const total = yield* sql<{ readonly total: bigint }>`
          SELECT count(*) AS total FROM (SELECT FROM chargebacks LIMIT ${COUNTED_MAX}) counted`.one((row) =>
          Number(row.total)
        )
        const from = timeIn(page)
        const before =
          from === undefined ? sql`true` : sql`(opened_at, chargeback_id) < (${from}, ${storable(page.after?.id)})`
        const rows = yield* sql`
          SELECT * FROM chargebacks WHERE ${before}
          ORDER BY opened_at DESC, chargeback_id DESC LIMIT ${page.limit + 1} OFFSET ${page.offset}`.unprepared.all(
          toChargeback
        )
        return pageOf(rows, page.limit, total, ({ id, openedAt }) => ({ key: DateTime.formatIso(openedAt), id }))
      }),

      ofConsumer: Effect.fn("PostgresChargebackStore.ofConsumer")((consumerId) =>
        sql`
          SELECT * FROM chargebacks WHERE consumer_id = ${consumerId} ORDER BY opened_at, chargeback_id`.all(
          toChargeback
        )
      )
    })
  })
)

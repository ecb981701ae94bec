/**
 * Payouts in PostgreSQL.
 */
import { DateTime, Effect, Layer } from "effect"
import { type Payout, PayoutStore } from "../../../domain/earnings/PayoutStore.ts"
import { PayoutId } from "../../../domain/shared/Ids.ts"
import { toDate, toDateOrNull } from "../shared/Instants.ts"
import { COUNTED_MAX, pageOf } from "../../../domain/shared/Page.ts"
import { beginsBeforeTime } from "../shared/NewestFirst.ts"
import { rowReader } from "../shared/RowReader.ts"
import { storeSql } from "../shared/StoreSql.ts"

const toPayout = rowReader<Payout>({ payout_id: "id" }, { amount_cents: Number, reversed_cents: Number })

export const layer = Layer.effect(
  PayoutStore,
  Effect.gen(function* () {
    const sql = yield* storeSql
    return PayoutStore.of({
      insert: Effect.fn("PostgresPayoutStore.insert")(
        (payout) =>
          sql`
            INSERT INTO payouts (payout_id, provider_id, account_id, amount_cents, state, transfer_id, failure,
              reversed_cents, attempts, next_attempt_at, created_at, paid_at)
            VALUES (${payout.id}, ${payout.providerId}, ${payout.accountId}, ${BigInt(payout.amountCents)},
              ${payout.state}, ${payout.transferId ?? null}, ${payout.failure ?? null},
              ${BigInt(payout.reversedCents)}, ${payout.attempts}, ${toDate(payout.nextAttemptAt)},
              ${toDate(payout.createdAt)}, ${toDateOrNull(payout.paidAt)}::timestamptz)
            ON CONFLICT DO NOTHING RETURNING payout_id`.hasRows
      ),

      find: (id) => sql`SELECT * FROM payouts WHERE payout_id = ${id}`.first(toPayout),

      openOf: (providerId) =>
        sql`
          SELECT * FROM payouts
          WHERE provider_id = ${providerId} AND state IN ('requested', 'transferring')`.first(toPayout),

      lock: (id) => sql`SELECT * FROM payouts WHERE payout_id = ${id} FOR UPDATE`.first(toPayout),

      update: Effect.fn("PostgresPayoutStore.update")(
        (payout) => sql`
          UPDATE payouts SET state = ${payout.state}, transfer_id = ${payout.transferId ?? null},
            failure = ${payout.failure ?? null}, reversed_cents = ${BigInt(payout.reversedCents)},
            attempts = ${payout.attempts}, next_attempt_at = ${toDate(payout.nextAttemptAt)},
            paid_at = ${toDateOrNull(payout.paidAt)}::timestamptz
          WHERE payout_id = ${payout.id}`,
        Effect.asVoid
      ),

      due: Effect.fn("PostgresPayoutStore.due")((now, limit) =>
        sql<{ readonly payout_id: string }>`
          SELECT payout_id FROM payouts
          WHERE state IN ('requested', 'transferring') AND next_attempt_at <= ${toDate(now)}
          ORDER BY next_attempt_at, payout_id LIMIT ${limit}`.all((row) => PayoutId.make(row.payout_id))
      ),

      list: Effect.fn("PostgresPayoutStore.list")(function* ({ providerId, state }, page) {
        const where = sql.and([
          sql`true`,
          ...(state === undefined ? [] : [sql`state = ${state}`]),
          ...(providerId === undefined ? [] : [sql`provider_id = ${providerId}`])
        ])
        const total = yield* sql<{ readonly total: bigint }>`
          SELECT count(*) AS total FROM (SELECT FROM payouts WHERE ${where} LIMIT ${COUNTED_MAX}) counted`.unprepared.one(
          (row) => Number(row.total)
        )
        const before = beginsBeforeTime(page)
        const rows = yield* sql`
          SELECT * FROM payouts WHERE ${where} AND (created_at, payout_id) < (${before.at}, ${before.id}::uuid)
          ORDER BY created_at DESC, payout_id DESC LIMIT ${page.limit + 1} OFFSET ${page.offset}`.unprepared.all(
          toPayout
        )
        return pageOf(rows, page.limit, total, ({ createdAt, id }) => ({ key: DateTime.formatIso(createdAt), id }))
      }),

      history: Effect.fn("PostgresPayoutStore.history")((providerId, limit) =>
        sql`
          SELECT * FROM payouts WHERE provider_id = ${providerId}
          ORDER BY created_at DESC, payout_id DESC LIMIT ${limit}`.all(toPayout)
      )
    })
  })
)

/**
 * Withdrawals in PostgreSQL.
 */
import { Array as Arr, Effect, Layer } from "effect"
import { type Withdrawal, type WithdrawalPart, WithdrawalStore } from "../../../domain/payments/Withdrawals.ts"
import { LoadId, WithdrawalPartId } from "../../../domain/shared/Ids.ts"
import { columnsOf } from "../shared/Columns.ts"
import { toDate } from "../shared/Instants.ts"
import { rowReader } from "../shared/RowReader.ts"
import { storeSql } from "../shared/StoreSql.ts"

const toWithdrawal = rowReader<Omit<Withdrawal, "parts">>({ withdrawal_id: "id" }, { amount_cents: Number })
const toPart = rowReader<WithdrawalPart>({ part_id: "id" }, { amount_cents: Number, fee_cents: Number })

const PART_COLUMNS =
  "part_id, withdrawal_id, consumer_id, load_id, payment_id, amount_cents, fee_cents, state, refund_id, failure, " +
  "attempts, next_attempt_at"

export const layer = Layer.effect(
  WithdrawalStore,
  Effect.gen(function* () {
    const sql = yield* storeSql
    const columns = sql.literal(PART_COLUMNS)

    const withParts = Effect.fnUntraced(function* (rows: ReadonlyArray<object>) {
      if (rows.length === 0) return []
      const withdrawals = rows.map(toWithdrawal)
      const parts = yield* sql`
        SELECT ${columns} FROM withdrawal_parts
        WHERE withdrawal_id = ANY (${columnsOf(withdrawals).uuid(({ id }) => id)}) ORDER BY place`.all(toPart)
      return withdrawals.map((one) => ({ ...one, parts: parts.filter(({ withdrawalId }) => withdrawalId === one.id) }))
    })

    return WithdrawalStore.of({
      insert: Effect.fn("PostgresWithdrawalStore.insert")(function* (withdrawal) {
        const isNew = yield* sql`
          INSERT INTO withdrawals (withdrawal_id, consumer_id, amount_cents, created_at)
          VALUES (${withdrawal.id}, ${withdrawal.consumerId}, ${BigInt(withdrawal.amountCents)},
            ${toDate(withdrawal.createdAt)})
          ON CONFLICT DO NOTHING RETURNING withdrawal_id`.hasRows
        if (!isNew) return false
        for (const [place, part] of withdrawal.parts.entries()) {
          yield* sql`
            INSERT INTO withdrawal_parts (${columns}, place)
            VALUES (${part.id}, ${part.withdrawalId}, ${part.consumerId}, ${part.loadId}, ${part.paymentId},
              ${BigInt(part.amountCents)}, ${BigInt(part.feeCents)}, ${part.state}, ${part.refundId ?? null},
              ${part.failure ?? null}, ${part.attempts}, ${toDate(part.nextAttemptAt)}, ${place})`
        }
        return true
      }, sql.withTransaction),

      find: Effect.fn("PostgresWithdrawalStore.find")(
        (id) => sql`SELECT * FROM withdrawals WHERE withdrawal_id = ${id}`,
        Effect.flatMap(withParts),
        Effect.map(Arr.head)
      ),

      list: Effect.fn("PostgresWithdrawalStore.list")(
        (consumerId, limit) => sql`
          SELECT * FROM withdrawals WHERE consumer_id = ${consumerId}
          ORDER BY created_at DESC, withdrawal_id DESC LIMIT ${limit}`,
        Effect.flatMap(withParts)
      ),

      lockPart: Effect.fn("PostgresWithdrawalStore.lockPart")((id) =>
        sql`SELECT ${columns} FROM withdrawal_parts WHERE part_id = ${id} FOR UPDATE`.first(toPart)
      ),

      updatePart: Effect.fn("PostgresWithdrawalStore.updatePart")(
        (part) => sql`
          UPDATE withdrawal_parts SET state = ${part.state}, refund_id = ${part.refundId ?? null},
            failure = ${part.failure ?? null}, attempts = ${part.attempts},
            next_attempt_at = ${toDate(part.nextAttemptAt)}
          WHERE part_id = ${part.id}`,
        Effect.asVoid
      ),

      due: Effect.fn("PostgresWithdrawalStore.due")((now, limit) =>
        sql<{ readonly part_id: string }>`
          SELECT part_id FROM withdrawal_parts
          WHERE state IN ('requested', 'refunding') AND next_attempt_at <= ${toDate(now)}
          ORDER BY next_attempt_at, part_id LIMIT ${limit}`.all((row) => WithdrawalPartId.make(row.part_id))
      ),

      hasOpen: Effect.fn("PostgresWithdrawalStore.hasOpen")(
        (consumerId) =>
          sql`
            SELECT FROM withdrawal_parts
            WHERE consumer_id = ${consumerId} AND state IN ('requested', 'refunding') LIMIT 1`.hasRows
      ),

      withdrawnCents: Effect.fn("PostgresWithdrawalStore.withdrawnCents")(
        (consumerId) => sql<{ readonly load_id: string; readonly cents: bigint }>`
          SELECT load_id, sum(amount_cents)::int8 AS cents FROM withdrawal_parts
          WHERE consumer_id = ${consumerId} AND state NOT IN ('failed', 'returned') GROUP BY load_id`,
        Effect.map((rows) => new Map(rows.map((row) => [LoadId.make(row.load_id), Number(row.cents)])))
      )
    })
  })
)

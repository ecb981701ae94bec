/**
 * Withdrawals in PostgreSQL.
 */
import { Array as Arr, type DateTime, Effect, Layer, Option } from "effect"
import {
  type Withdrawal,
  type WithdrawalPart,
  type WithdrawalPartState,
  WithdrawalStore
} from "../../../domain/payments/WithdrawalStore.ts"
import { ConsumerId, LoadId, WithdrawalId, WithdrawalPartId } from "../../../domain/shared/Ids.ts"
import { columnsOf } from "../shared/Columns.ts"
import { toDate, toInstant } from "../shared/Instants.ts"
import { storeSql } from "../shared/StoreSql.ts"

interface WithdrawalRow {
  readonly withdrawal_id: string
  readonly consumer_id: string
  readonly amount_cents: bigint
  readonly created_at: Date
}

interface PartRow {
  readonly part_id: string
  readonly withdrawal_id: string
  readonly consumer_id: string
  readonly load_id: string
  readonly payment_id: string
  readonly amount_cents: bigint
  readonly fee_cents: bigint
  readonly state: WithdrawalPartState
  readonly refund_id: string | null
  readonly failure: string | null
  readonly attempts: number
  readonly next_attempt_at: Date
}

export const layer = Layer.effect(
  WithdrawalStore,
  Effect.gen(function* () {
    const sql = yield* storeSql

    const insert = Effect.fn("PostgresWithdrawalStore.insert")(function* (withdrawal: Withdrawal) {
      const rows = yield* sql`INSERT INTO withdrawals (withdrawal_id, consumer_id, amount_cents, created_at)
        VALUES (${withdrawal.id}, ${withdrawal.consumerId}, ${BigInt(withdrawal.amountCents)},
          ${toDate(withdrawal.createdAt)})
        ON CONFLICT DO NOTHING RETURNING withdrawal_id`
      if (rows.length === 0) return false
      for (const [place, part] of withdrawal.parts.entries()) {
        yield* sql`INSERT INTO withdrawal_parts (part_id, withdrawal_id, place, consumer_id, load_id, payment_id,
            amount_cents, fee_cents, state, refund_id, failure, attempts, next_attempt_at)
          VALUES (${part.id}, ${part.withdrawalId}, ${place}, ${part.consumerId}, ${part.loadId}, ${part.paymentId},
            ${BigInt(part.amountCents)}, ${BigInt(part.feeCents)}, ${part.state}, ${part.refundId ?? null},
            ${part.failure ?? null}, ${part.attempts}, ${toDate(part.nextAttemptAt)})`
      }
      return true
    }, sql.withTransaction)

    const withParts = Effect.fnUntraced(function* (rows: ReadonlyArray<WithdrawalRow>) {
      if (rows.length === 0) return []
      const ids = columnsOf(rows).uuid((row) => row.withdrawal_id)
      const parts =
        yield* sql<PartRow>`SELECT * FROM withdrawal_parts WHERE withdrawal_id = ANY (${ids}) ORDER BY place`
      return rows.map((row) => toWithdrawal(row, parts))
    })

    const find = Effect.fn("PostgresWithdrawalStore.find")(function* (id: WithdrawalId) {
      const rows = yield* sql<WithdrawalRow>`SELECT * FROM withdrawals WHERE withdrawal_id = ${id}`
      return Arr.head(yield* withParts(rows))
    })

    const list = Effect.fn("PostgresWithdrawalStore.list")(function* (consumerId: ConsumerId, limit: number) {
      return yield* withParts(
        yield* sql<WithdrawalRow>`SELECT * FROM withdrawals WHERE consumer_id = ${consumerId}
          ORDER BY created_at DESC, withdrawal_id DESC LIMIT ${limit}`
      )
    })

    const lockPart = Effect.fn("PostgresWithdrawalStore.lockPart")(function* (id: WithdrawalPartId) {
      const rows = yield* sql<PartRow>`SELECT * FROM withdrawal_parts WHERE part_id = ${id} FOR UPDATE`
      return Option.map(Arr.head(rows), toPart)
    })

    const updatePart = Effect.fn("PostgresWithdrawalStore.updatePart")(function* (part: WithdrawalPart) {
      yield* sql`UPDATE withdrawal_parts SET state = ${part.state}, refund_id = ${part.refundId ?? null},
          failure = ${part.failure ?? null}, attempts = ${part.attempts}, next_attempt_at = ${toDate(part.nextAttemptAt)}
        WHERE part_id = ${part.id}`
    })

    const due = Effect.fn("PostgresWithdrawalStore.due")(function* (now: DateTime.Utc, limit: number) {
      const rows = yield* sql<{ readonly part_id: string }>`SELECT part_id FROM withdrawal_parts
        WHERE state IN ('requested', 'refunding') AND next_attempt_at <= ${toDate(now)}
        ORDER BY next_attempt_at, part_id LIMIT ${limit}`
      return rows.map((row) => WithdrawalPartId.make(row.part_id))
    })

    const hasOpen = Effect.fn("PostgresWithdrawalStore.hasOpen")(function* (consumerId: ConsumerId) {
      const rows = yield* sql`SELECT FROM withdrawal_parts
        WHERE consumer_id = ${consumerId} AND state IN ('requested', 'refunding') LIMIT 1`
      return rows.length > 0
    })

    const withdrawnCents = Effect.fn("PostgresWithdrawalStore.withdrawnCents")(function* (consumerId: ConsumerId) {
      const rows = yield* sql<{ readonly load_id: string; readonly cents: bigint }>`
        SELECT load_id, sum(amount_cents)::int8 AS cents FROM withdrawal_parts
        WHERE consumer_id = ${consumerId} AND state NOT IN ('failed', 'returned') GROUP BY load_id`
      return new Map(rows.map((row) => [LoadId.make(row.load_id), Number(row.cents)]))
    })

    return WithdrawalStore.of({ insert, find, list, lockPart, updatePart, due, hasOpen, withdrawnCents })
  })
)

const toWithdrawal = (row: WithdrawalRow, parts: ReadonlyArray<PartRow>): Withdrawal => ({
  id: WithdrawalId.make(row.withdrawal_id),
  consumerId: ConsumerId.make(row.consumer_id),
  amountCents: Number(row.amount_cents),
  createdAt: toInstant(row.created_at),
  parts: parts.filter((part) => part.withdrawal_id === row.withdrawal_id).map(toPart)
})

const toPart = (row: PartRow): WithdrawalPart => ({
  id: WithdrawalPartId.make(row.part_id),
  withdrawalId: WithdrawalId.make(row.withdrawal_id),
  consumerId: ConsumerId.make(row.consumer_id),
  loadId: LoadId.make(row.load_id),
  paymentId: row.payment_id,
  amountCents: Number(row.amount_cents),
  feeCents: Number(row.fee_cents),
  state: row.state,
  refundId: row.refund_id ?? undefined,
  failure: row.failure ?? undefined,
  attempts: row.attempts,
  nextAttemptAt: toInstant(row.next_attempt_at)
})

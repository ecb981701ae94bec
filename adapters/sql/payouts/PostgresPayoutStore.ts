/**
 * Payouts in PostgreSQL.
 */
import { Array as Arr, type DateTime, Effect, Layer, Option } from "effect"
import { type Payout, type PayoutState, PayoutStore } from "../../../domain/payouts/PayoutStore.ts"
import { PayoutId, ProviderId } from "../../../domain/shared/Ids.ts"
import { toDate, toDateOrNull, toInstant, toInstantOrUndefined } from "../shared/Instants.ts"
import { storeSql } from "../shared/StoreSql.ts"

interface PayoutRow {
  readonly payout_id: string
  readonly provider_id: string
  readonly account_id: string
  readonly amount_cents: bigint
  readonly state: PayoutState
  readonly transfer_id: string | null
  readonly failure: string | null
  readonly reversed_cents: bigint
  readonly attempts: number
  readonly next_attempt_at: Date
  readonly created_at: Date
  readonly paid_at: Date | null
}

export const layer = Layer.effect(
  PayoutStore,
  Effect.gen(function* () {
    const sql = yield* storeSql

    const first = (rows: ReadonlyArray<PayoutRow>) => Option.map(Arr.head(rows), toPayout)

    const insert = Effect.fn("PostgresPayoutStore.insert")(function* (payout: Payout) {
      const rows = yield* sql`
        INSERT INTO payouts (payout_id, provider_id, account_id, amount_cents, state, transfer_id, failure,
          reversed_cents, attempts, next_attempt_at, created_at, paid_at)
        VALUES (${payout.id}, ${payout.providerId}, ${payout.accountId}, ${BigInt(payout.amountCents)}, ${payout.state},
          ${payout.transferId ?? null}, ${payout.failure ?? null}, ${BigInt(payout.reversedCents)}, ${payout.attempts},
          ${toDate(payout.nextAttemptAt)}, ${toDate(payout.createdAt)}, ${toDateOrNull(payout.paidAt)}::timestamptz)
        ON CONFLICT DO NOTHING RETURNING payout_id`
      return rows.length === 1
    })

    const update = Effect.fn("PostgresPayoutStore.update")(function* (payout: Payout) {
      yield* sql`UPDATE payouts SET state = ${payout.state}, transfer_id = ${payout.transferId ?? null},
          failure = ${payout.failure ?? null}, reversed_cents = ${BigInt(payout.reversedCents)},
          attempts = ${payout.attempts}, next_attempt_at = ${toDate(payout.nextAttemptAt)},
          paid_at = ${toDateOrNull(payout.paidAt)}::timestamptz
        WHERE payout_id = ${payout.id}`
    })

    const due = Effect.fn("PostgresPayoutStore.due")(function* (now: DateTime.Utc, limit: number) {
      const rows = yield* sql<{ readonly payout_id: string }>`
        SELECT payout_id FROM payouts
        WHERE state IN ('requested', 'transferring') AND next_attempt_at <= ${toDate(now)}
        ORDER BY next_attempt_at, payout_id LIMIT ${limit}`
      return rows.map((row) => PayoutId.make(row.payout_id))
    })

    const history = Effect.fn("PostgresPayoutStore.history")(function* (providerId: ProviderId, limit: number) {
      const rows = yield* sql<PayoutRow>`
        SELECT * FROM payouts WHERE provider_id = ${providerId} ORDER BY created_at DESC, payout_id DESC LIMIT ${limit}`
      return rows.map(toPayout)
    })

    return PayoutStore.of({
      insert,
      find: (id) => sql<PayoutRow>`SELECT * FROM payouts WHERE payout_id = ${id}`.pipe(Effect.map(first)),
      openOf: (providerId) =>
        sql<PayoutRow>`
          SELECT * FROM payouts WHERE provider_id = ${providerId} AND state IN ('requested', 'transferring')`.pipe(
          Effect.map(first)
        ),
      lock: (id) => sql<PayoutRow>`SELECT * FROM payouts WHERE payout_id = ${id} FOR UPDATE`.pipe(Effect.map(first)),
      update,
      due,
      history
    })
  })
)

const toPayout = (row: PayoutRow): Payout => ({
  id: PayoutId.make(row.payout_id),
  providerId: ProviderId.make(row.provider_id),
  accountId: row.account_id,
  amountCents: Number(row.amount_cents),
  state: row.state,
  transferId: row.transfer_id ?? undefined,
  failure: row.failure ?? undefined,
  reversedCents: Number(row.reversed_cents),
  attempts: row.attempts,
  nextAttemptAt: toInstant(row.next_attempt_at),
  createdAt: toInstant(row.created_at),
  paidAt: toInstantOrUndefined(row.paid_at)
})

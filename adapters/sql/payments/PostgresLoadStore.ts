/**
 * Loads in PostgreSQL.
 */
import { Array as Arr, type DateTime, Effect, Layer, Option } from "effect"
import { type Load, type LoadState, LoadStore, type Reversal } from "../../../domain/payments/LoadStore.ts"
import { ConsumerId, LoadId } from "../../../domain/shared/Ids.ts"
import { toDate, toInstant } from "../shared/Instants.ts"
import { prune } from "../shared/Prune.ts"
import { storeSql } from "../shared/StoreSql.ts"

interface LoadRow {
  readonly load_id: string
  readonly consumer_id: string
  readonly amount_cents: number
  readonly state: LoadState
  readonly session_id: string | null
  readonly checkout_url: string | null
  readonly payment_id: string | null
  readonly fee_cents: number | null
  readonly created_at: Date
  readonly paid_at: Date | null
  readonly updated_at: Date
}

interface ReversalRow {
  readonly reversal_id: string
  readonly load_id: string
  readonly amount_cents: bigint
  readonly state: Reversal["state"]
}

export const layer = Layer.effect(
  LoadStore,
  Effect.gen(function* () {
    const sql = yield* storeSql

    const first = (rows: ReadonlyArray<LoadRow>) => Option.map(Arr.head(rows), toLoad)

    const insert = Effect.fn("PostgresLoadStore.insert")(function* (load: Load) {
      const rows = yield* sql`
        INSERT INTO loads (load_id, consumer_id, amount_cents, state, session_id, checkout_url, payment_id, fee_cents,
          created_at, paid_at, updated_at)
        VALUES (${load.id}, ${load.consumerId}, ${load.amountCents}, ${load.state}, ${load.sessionId ?? null},
          ${load.checkoutUrl ?? null}, ${load.paymentId ?? null}, ${load.feeCents ?? null}, ${toDate(load.createdAt)},
          ${load.paidAt === undefined ? null : toDate(load.paidAt)}, ${toDate(load.updatedAt)})
        ON CONFLICT (load_id) DO NOTHING RETURNING load_id`
      return rows.length === 1
    })

    const update = Effect.fn("PostgresLoadStore.update")(function* (load: Load) {
      yield* sql`UPDATE loads SET state = ${load.state}, session_id = ${load.sessionId ?? null},
          checkout_url = ${load.checkoutUrl ?? null}, payment_id = ${load.paymentId ?? null},
          fee_cents = ${load.feeCents ?? null}, paid_at = ${load.paidAt === undefined ? null : toDate(load.paidAt)},
          updated_at = ${toDate(load.updatedAt)}
        WHERE load_id = ${load.id}`
    })

    const unsettled = Effect.fn("PostgresLoadStore.unsettled")(function* (before: DateTime.Utc, limit: number) {
      const rows = yield* sql<LoadRow>`
        SELECT * FROM loads WHERE state IN ('opening', 'open') AND updated_at <= ${toDate(before)}
        ORDER BY updated_at, load_id LIMIT ${limit}`
      return rows.map(toLoad)
    })

    const pendingOrPaidSince = Effect.fn("PostgresLoadStore.pendingOrPaidSince")(function* (
      consumerId: ConsumerId,
      since: DateTime.Utc
    ) {
      const rows = yield* sql<LoadRow>`SELECT * FROM loads
        WHERE consumer_id = ${consumerId} AND (state IN ('opening', 'open') OR paid_at > ${toDate(since)})`
      return rows.map(toLoad)
    })

    const paidOf = Effect.fn("PostgresLoadStore.paidOf")(function* (consumerId: ConsumerId, limit: number) {
      const rows = yield* sql<LoadRow & { readonly refunded_cents: bigint }>`
        SELECT l.*, (SELECT coalesce(sum(r.amount_cents), 0)::int8 FROM load_reversals r
          WHERE r.load_id = l.load_id AND r.state = 'taken') AS refunded_cents
        FROM loads l WHERE l.consumer_id = ${consumerId} AND l.state = 'paid'
        ORDER BY l.created_at DESC, l.load_id DESC LIMIT ${limit}`
      return rows.map((row) => ({ load: toLoad(row), refundedCents: Number(row.refunded_cents) }))
    })

    const withoutFee = Effect.fn("PostgresLoadStore.withoutFee")(function* (paidSince: DateTime.Utc, limit: number) {
      const rows = yield* sql<LoadRow>`SELECT * FROM loads
        WHERE state = 'paid' AND fee_cents IS NULL AND paid_at >= ${toDate(paidSince)}
        ORDER BY updated_at, load_id LIMIT ${limit}`
      return rows.map(toLoad)
    })

    const unsettledOf = Effect.fn("PostgresLoadStore.unsettledOf")(function* (consumerId: ConsumerId) {
      const [row] = yield* sql<{ readonly found: bigint }>`
        SELECT count(*) AS found FROM loads WHERE state IN ('opening', 'open') AND consumer_id = ${consumerId}`
      return Number(row!.found)
    })

    const reversal = Effect.fn("PostgresLoadStore.reversal")(function* (id: string) {
      const rows = yield* sql<ReversalRow>`SELECT * FROM load_reversals WHERE reversal_id = ${id}`
      return Option.map(Arr.head(rows), (row) => ({
        id: row.reversal_id,
        loadId: LoadId.make(row.load_id),
        amountCents: Number(row.amount_cents),
        state: row.state
      }))
    })

    const putReversal = Effect.fn("PostgresLoadStore.putReversal")(function* (reversal: Reversal) {
      const { amountCents, id, loadId, state } = reversal
      yield* sql`INSERT INTO load_reversals (reversal_id, load_id, amount_cents, state)
        VALUES (${id}, ${loadId}, ${BigInt(amountCents)}, ${state})
        ON CONFLICT (reversal_id) DO UPDATE SET state = excluded.state`
    })

    const claimEvent = Effect.fn("PostgresLoadStore.claimEvent")(function* (eventId: string, at: DateTime.Utc) {
      const rows = yield* sql`INSERT INTO payment_events (event_id, claimed_at) VALUES (${eventId}, ${toDate(at)})
        ON CONFLICT DO NOTHING RETURNING event_id`
      return rows.length === 1
    })

    const forgetEvents = Effect.fn("PostgresLoadStore.forgetEvents")((before: DateTime.Utc, limit: number) =>
      prune(sql, "payment_events", sql`claimed_at < ${toDate(before)}`, limit)
    )

    return LoadStore.of({
      insert,
      find: (id) => sql<LoadRow>`SELECT * FROM loads WHERE load_id = ${id}`.pipe(Effect.map(first)),
      findByPayment: (paymentId) =>
        sql<LoadRow>`SELECT * FROM loads WHERE payment_id = ${paymentId}`.pipe(Effect.map(first)),
      lock: (id) => sql<LoadRow>`SELECT * FROM loads WHERE load_id = ${id} FOR UPDATE`.pipe(Effect.map(first)),
      update,
      pendingOrPaidSince,
      paidOf,
      withoutFee,
      unsettled,
      unsettledOf,
      reversal,
      putReversal,
      claimEvent,
      forgetEvents
    })
  })
)

const toLoad = (row: LoadRow): Load => ({
  id: LoadId.make(row.load_id),
  consumerId: ConsumerId.make(row.consumer_id),
  amountCents: row.amount_cents,
  state: row.state,
  sessionId: row.session_id ?? undefined,
  checkoutUrl: row.checkout_url ?? undefined,
  paymentId: row.payment_id ?? undefined,
  feeCents: row.fee_cents ?? undefined,
  createdAt: toInstant(row.created_at),
  paidAt: row.paid_at === null ? undefined : toInstant(row.paid_at),
  updatedAt: toInstant(row.updated_at)
})

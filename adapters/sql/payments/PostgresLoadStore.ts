/**
 * Loads in PostgreSQL.
 */
import { DateTime, Effect, Layer } from "effect"
import {
  CHECKED_EVERY_SECONDS,
  CHECKS_PER_AGE,
  type Load,
  LoadStore,
  type Reversal
} from "../../../domain/payments/Loads.ts"
import { toDate, toDateOrNull } from "../shared/Instants.ts"
import { prune } from "../shared/Prune.ts"
import { rowReader } from "../shared/RowReader.ts"
import { storeSql } from "../shared/StoreSql.ts"

const toLoad = rowReader<Load>({ load_id: "id" })
const toReversal = rowReader<Reversal>({ reversal_id: "id" }, { amount_cents: Number })

export const layer = Layer.effect(
  LoadStore,
  Effect.gen(function* () {
    const sql = yield* storeSql
    return LoadStore.of({
      insert: Effect.fn("PostgresLoadStore.insert")(
        (load) =>
          sql`
            INSERT INTO loads (load_id, consumer_id, amount_cents, state, session_id, checkout_url, payment_id,
              fee_cents, created_at, paid_at, updated_at)
            VALUES (${load.id}, ${load.consumerId}, ${load.amountCents}, ${load.state}, ${load.sessionId ?? null},
              ${load.checkoutUrl ?? null}, ${load.paymentId ?? null}, ${load.feeCents ?? null},
              ${toDate(load.createdAt)}, ${toDateOrNull(load.paidAt)}, ${toDate(load.updatedAt)})
            ON CONFLICT (load_id) DO NOTHING RETURNING load_id`.hasRows
      ),

      find: (id) => sql`SELECT * FROM loads WHERE load_id = ${id}`.first(toLoad),

      findByPayment: (paymentId) => sql`SELECT * FROM loads WHERE payment_id = ${paymentId}`.first(toLoad),

      lock: (id) => sql`SELECT * FROM loads WHERE load_id = ${id} FOR UPDATE`.first(toLoad),

      update: Effect.fn("PostgresLoadStore.update")(
        (load) => sql`
          UPDATE loads SET state = ${load.state}, session_id = ${load.sessionId ?? null},
            checkout_url = ${load.checkoutUrl ?? null}, payment_id = ${load.paymentId ?? null},
            fee_cents = ${load.feeCents ?? null}, paid_at = ${toDateOrNull(load.paidAt)},
            updated_at = ${toDate(load.updatedAt)}
          WHERE load_id = ${load.id}`,
        Effect.asVoid
      ),

      unsettled: Effect.fn("PostgresLoadStore.unsettled")((now, limit) =>
        sql`
          SELECT * FROM loads
          WHERE state IN ('opening', 'open')
            AND updated_at <= ${toDate(DateTime.subtract(now, { seconds: CHECKED_EVERY_SECONDS }))}
            AND (${toDate(now)}::timestamptz - updated_at) * ${CHECKS_PER_AGE}::int >= ${toDate(now)}::timestamptz - created_at
          ORDER BY updated_at, load_id LIMIT ${limit}`.all(toLoad)
      ),

      pendingOrPaidSince: Effect.fn("PostgresLoadStore.pendingOrPaidSince")((consumerId, since) =>
        sql`
          SELECT * FROM loads
          WHERE consumer_id = ${consumerId} AND (state IN ('opening', 'open') OR paid_at > ${toDate(since)})`.all(
          toLoad
        )
      ),

      paidOf: Effect.fn("PostgresLoadStore.paidOf")((consumerId, limit) =>
        sql<{ readonly refunded_cents: bigint }>`
          SELECT l.*, (SELECT coalesce(sum(r.amount_cents), 0)::int8 FROM load_reversals r
            WHERE r.load_id = l.load_id AND r.state = 'taken') AS refunded_cents
          FROM loads l WHERE l.consumer_id = ${consumerId} AND l.state = 'paid'
          ORDER BY l.created_at DESC, l.load_id DESC LIMIT ${limit}`.all(({ refunded_cents, ...load }) => ({
          load: toLoad(load),
          refundedCents: Number(refunded_cents)
        }))
      ),

      withoutFee: Effect.fn("PostgresLoadStore.withoutFee")((paidSince, limit) =>
        sql`
          SELECT * FROM loads WHERE state = 'paid' AND fee_cents IS NULL AND paid_at >= ${toDate(paidSince)}
          ORDER BY updated_at, load_id LIMIT ${limit}`.all(toLoad)
      ),

      unsettledOf: Effect.fn("PostgresLoadStore.unsettledOf")((consumerId) =>
        sql<{ readonly found: bigint }>`
          SELECT count(*) AS found FROM loads
          WHERE state IN ('opening', 'open') AND consumer_id = ${consumerId}`.one(({ found }) => Number(found))
      ),

      reversal: Effect.fn("PostgresLoadStore.reversal")((id) =>
        sql`SELECT * FROM load_reversals WHERE reversal_id = ${id}`.first(toReversal)
      ),

      putReversal: Effect.fn("PostgresLoadStore.putReversal")(
        ({ amountCents, id, loadId, state }) => sql`
          INSERT INTO load_reversals (reversal_id, load_id, amount_cents, state)
          VALUES (${id}, ${loadId}, ${BigInt(amountCents)}, ${state})
          ON CONFLICT (reversal_id) DO UPDATE SET state = excluded.state`,
        Effect.asVoid
      ),

      claimEvent: Effect.fn("PostgresLoadStore.claimEvent")(
        (eventId, at) =>
          sql`
            INSERT INTO payment_events (event_id, claimed_at) VALUES (${eventId}, ${toDate(at)})
            ON CONFLICT DO NOTHING RETURNING event_id`.hasRows
      ),

      forgetEvents: Effect.fn("PostgresLoadStore.forgetEvents")((before, limit) =>
        prune(sql, "payment_events", sql`claimed_at < ${toDate(before)}`, limit)
      )
    })
  })
)

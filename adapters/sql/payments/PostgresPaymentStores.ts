/**
 * Loads, withdrawals, chargebacks and frozen accounts in PostgreSQL.
 */
import { Array as Arr, DateTime, Effect, Layer } from "effect"
import { type Chargeback, ChargebackStore, type Freeze, FreezeStore } from "../../../domain/payments/AccountFreezes.ts"
import {
  CHECKED_EVERY_SECONDS,
  CHECKS_PER_AGE,
  type Load,
  LoadStore,
  type Reversal
} from "../../../domain/payments/Loads.ts"
import { type Withdrawal, type WithdrawalPart, WithdrawalStore } from "../../../domain/payments/Withdrawals.ts"
import { type EarnedFrom, SpendingByLot } from "../../../domain/processor/Chargebacks.ts"
import { ConsumerId, LoadId, WithdrawalPartId } from "../../../domain/shared/Ids.ts"
import { COUNTED_MAX, pageOf } from "../../../domain/shared/Page.ts"
import { uuidOfReceipt } from "../ledger/LedgerCodes.ts"
import { column, columnsOf, OID } from "../shared/Columns.ts"
import { rowReader, timeIn, toDate, toDateOrNull } from "../shared/Rows.ts"
import { prune, storeLayer } from "../shared/StoreSql.ts"

const toChargeback = rowReader<Chargeback>({ chargeback_id: "id" }, { amount_cents: Number })

/** A cursor comes from the client: no text contains a NUL. */
const storable = (id = ""): string => id.replaceAll("\0", "")

const chargebackStore = storeLayer(ChargebackStore, (sql) => ({
  find: (id) => sql`SELECT * FROM chargebacks WHERE chargeback_id = ${id}`.first(toChargeback),

  put: (one) =>
    sql`
      INSERT INTO chargebacks (chargeback_id, load_id, consumer_id, amount_cents, state, funds, released,
        opened_at, updated_at)
      VALUES (${one.id}, ${one.loadId}, ${one.consumerId}, ${BigInt(one.amountCents)}, ${one.state}, ${one.funds},
        ${one.released}, ${toDate(one.openedAt)}, ${toDate(one.updatedAt)})
      ON CONFLICT (chargeback_id) DO UPDATE SET state = excluded.state, funds = excluded.funds,
        released = excluded.released, updated_at = excluded.updated_at`.done,

  list: Effect.fnUntraced(function* (page) {
    const total = yield* sql`SELECT count(*) FROM (SELECT 1 FROM chargebacks LIMIT ${COUNTED_MAX}) counted`.number
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

  ofConsumer: (consumerId) =>
    sql`
      SELECT * FROM chargebacks WHERE consumer_id = ${consumerId} ORDER BY opened_at, chargeback_id`.all(toChargeback)
}))

// Frozen accounts in PostgreSQL: a flag of the wallet, which the functions that open calls lock and read anyway.

const toFreeze = rowReader<Freeze>()

const freezeStore = storeLayer(FreezeStore, (sql) => ({
  freeze: (consumerId, { at, byOperator, reason }) =>
    sql`
      INSERT INTO wallets AS w (consumer_id, frozen, frozen_at, frozen_reason, frozen_by_operator)
      VALUES (${consumerId}, true, ${toDate(at)}, ${reason}, ${byOperator})
      ON CONFLICT (consumer_id) DO UPDATE SET frozen = true, frozen_at = coalesce(w.frozen_at, excluded.frozen_at),
        frozen_reason = excluded.frozen_reason, frozen_by_operator = excluded.frozen_by_operator
      WHERE NOT w.frozen_by_operator OR excluded.frozen_by_operator`.done,

  unfreeze: (consumerId) =>
    sql`
      UPDATE wallets SET frozen = false, frozen_at = NULL, frozen_reason = NULL, frozen_by_operator = false
      WHERE consumer_id = ${consumerId} AND frozen RETURNING consumer_id`.hasRows,

  find: (consumerId) =>
    sql`
      SELECT frozen_reason AS reason, frozen_at AS at, frozen_by_operator AS by_operator FROM wallets
      WHERE consumer_id = ${consumerId} AND frozen`.first(toFreeze),

  findAll: (ids) =>
    Effect.map(
      sql<{ readonly consumer_id: string }>`
        SELECT consumer_id, frozen_reason AS reason, frozen_at AS at, frozen_by_operator AS by_operator FROM wallets
        WHERE consumer_id = ANY (${ids}::uuid[]) AND frozen`.all(
        ({ consumer_id: id, ...freeze }) => [ConsumerId.make(id), toFreeze(freeze)] as const
      ),
      (found) => new Map(found)
    ),

  frozen: (after, limit) =>
    sql<{ readonly consumer_id: string }>`
      SELECT consumer_id FROM wallets
      WHERE frozen AND (${after ?? null}::uuid IS NULL OR consumer_id > ${after ?? null}::uuid)
      ORDER BY consumer_id LIMIT ${limit}`.all((row) => ConsumerId.make(row.consumer_id))
}))

const toLoad = rowReader<Load>({ load_id: "id" })
const toReversal = rowReader<Reversal>({ reversal_id: "id" }, { amount_cents: Number })

const loadStore = storeLayer(LoadStore, (sql) => ({
  insert: (load) =>
    sql`
      INSERT INTO loads (load_id, consumer_id, amount_cents, state, session_id, checkout_url, payment_id,
        fee_cents, created_at, paid_at, updated_at)
      VALUES (${load.id}, ${load.consumerId}, ${load.amountCents}, ${load.state}, ${load.sessionId ?? null},
        ${load.checkoutUrl ?? null}, ${load.paymentId ?? null}, ${load.feeCents ?? null},
        ${toDate(load.createdAt)}, ${toDateOrNull(load.paidAt)}, ${toDate(load.updatedAt)})
      ON CONFLICT (load_id) DO NOTHING RETURNING load_id`.hasRows,

  find: (id) => sql`SELECT * FROM loads WHERE load_id = ${id}`.first(toLoad),

  findByPayment: (paymentId) => sql`SELECT * FROM loads WHERE payment_id = ${paymentId}`.first(toLoad),

  lock: (id) => sql`SELECT * FROM loads WHERE load_id = ${id} FOR UPDATE`.first(toLoad),

  update: (load) =>
    sql`
      UPDATE loads SET state = ${load.state}, session_id = ${load.sessionId ?? null},
        checkout_url = ${load.checkoutUrl ?? null}, payment_id = ${load.paymentId ?? null},
        fee_cents = ${load.feeCents ?? null}, paid_at = ${toDateOrNull(load.paidAt)},
        updated_at = ${toDate(load.updatedAt)}
      WHERE load_id = ${load.id}`.done,

  unsettled: (now, limit) =>
    sql`
      SELECT * FROM loads
      WHERE state IN ('opening', 'open')
        AND updated_at <= ${toDate(DateTime.subtract(now, { seconds: CHECKED_EVERY_SECONDS }))}
        AND (${toDate(now)}::timestamptz - updated_at) * ${CHECKS_PER_AGE}::int >= ${toDate(now)}::timestamptz - created_at
      ORDER BY updated_at, load_id LIMIT ${limit}`.all(toLoad),

  pendingOrPaidSince: (consumerId, since) =>
    sql`
      SELECT * FROM loads
      WHERE consumer_id = ${consumerId} AND (state IN ('opening', 'open') OR paid_at > ${toDate(since)})`.all(toLoad),

  paidOf: (consumerId, limit) =>
    sql<{ readonly refunded_cents: bigint }>`
      SELECT l.*, (SELECT coalesce(sum(r.amount_cents), 0)::int8 FROM load_reversals r
        WHERE r.load_id = l.load_id AND r.state = 'taken') AS refunded_cents
      FROM loads l WHERE l.consumer_id = ${consumerId} AND l.state = 'paid'
      ORDER BY l.created_at DESC, l.load_id DESC LIMIT ${limit}`.all(({ refunded_cents, ...load }) => ({
      load: toLoad(load),
      refundedCents: Number(refunded_cents)
    })),

  withoutFee: (paidSince, limit) =>
    sql`
      SELECT * FROM loads WHERE state = 'paid' AND fee_cents IS NULL AND paid_at >= ${toDate(paidSince)}
      ORDER BY updated_at, load_id LIMIT ${limit}`.all(toLoad),

  unsettledOf: (consumerId) =>
    sql`SELECT count(*) FROM loads WHERE state IN ('opening', 'open') AND consumer_id = ${consumerId}`.number,

  reversal: (id) => sql`SELECT * FROM load_reversals WHERE reversal_id = ${id}`.first(toReversal),

  putReversal: ({ amountCents, id, loadId, state }) =>
    sql`
      INSERT INTO load_reversals (reversal_id, load_id, amount_cents, state)
      VALUES (${id}, ${loadId}, ${BigInt(amountCents)}, ${state})
      ON CONFLICT (reversal_id) DO UPDATE SET state = excluded.state`.done,

  claimEvent: (eventId, at) =>
    sql`
      INSERT INTO payment_events (event_id, claimed_at) VALUES (${eventId}, ${toDate(at)})
      ON CONFLICT DO NOTHING RETURNING event_id`.hasRows,

  forgetEvents: (before, limit) => prune(sql, "payment_events", sql`claimed_at < ${toDate(before)}`, limit)
}))

const spendingByLot = storeLayer(SpendingByLot, (sql) => ({
  since: (consumerId, settledFrom, without) =>
    sql`
      SELECT r.provider_id, (r.created_at AT TIME ZONE 'UTC')::date::text AS day, sum(r.cost - r.fee)::int8 AS net
      FROM receipts r
      WHERE r.consumer_id = ${consumerId} AND r.created_at >= ${toDate(settledFrom)} AND r.cost > r.fee
        AND r.receipt_id <> ALL (${column(without.map(uuidOfReceipt), OID.uuid)})
      GROUP BY r.provider_id, day ORDER BY day, r.provider_id`.all(rowReader<EarnedFrom>())
}))

const toWithdrawal = rowReader<Omit<Withdrawal, "parts">>({ withdrawal_id: "id" }, { amount_cents: Number })
const toPart = rowReader<WithdrawalPart>({ part_id: "id" }, { amount_cents: Number, fee_cents: Number })

const PART_COLUMNS =
  "part_id, withdrawal_id, consumer_id, load_id, payment_id, amount_cents, fee_cents, state, refund_id, failure, " +
  "attempts, next_attempt_at"

const withdrawalStore = storeLayer(WithdrawalStore, (sql) => {
  const columns = sql.literal(PART_COLUMNS)

  const withParts = Effect.fnUntraced(function* (rows: ReadonlyArray<object>) {
    if (rows.length === 0) return []
    const withdrawals = rows.map(toWithdrawal)
    const parts = yield* sql`
      SELECT ${columns} FROM withdrawal_parts
      WHERE withdrawal_id = ANY (${columnsOf(withdrawals).uuid(({ id }) => id)}) ORDER BY place`.all(toPart)
    return withdrawals.map((one) => ({ ...one, parts: parts.filter(({ withdrawalId }) => withdrawalId === one.id) }))
  })

  return {
    insert: Effect.fnUntraced(function* (withdrawal) {
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

    find: (id) =>
      sql`SELECT * FROM withdrawals WHERE withdrawal_id = ${id}`.pipe(Effect.flatMap(withParts), Effect.map(Arr.head)),

    list: (consumerId, limit) =>
      sql`
        SELECT * FROM withdrawals WHERE consumer_id = ${consumerId}
        ORDER BY created_at DESC, withdrawal_id DESC LIMIT ${limit}`.pipe(Effect.flatMap(withParts)),

    lockPart: (id) => sql`SELECT ${columns} FROM withdrawal_parts WHERE part_id = ${id} FOR UPDATE`.first(toPart),

    updatePart: (part) =>
      sql`
        UPDATE withdrawal_parts SET state = ${part.state}, refund_id = ${part.refundId ?? null},
          failure = ${part.failure ?? null}, attempts = ${part.attempts},
          next_attempt_at = ${toDate(part.nextAttemptAt)}
        WHERE part_id = ${part.id}`.done,

    due: (now, limit) =>
      sql<{ readonly part_id: string }>`
        SELECT part_id FROM withdrawal_parts
        WHERE state IN ('requested', 'refunding') AND next_attempt_at <= ${toDate(now)}
        ORDER BY next_attempt_at, part_id LIMIT ${limit}`.all((row) => WithdrawalPartId.make(row.part_id)),

    hasOpen: (consumerId) =>
      sql`
        SELECT FROM withdrawal_parts
        WHERE consumer_id = ${consumerId} AND state IN ('requested', 'refunding') LIMIT 1`.hasRows,

    withdrawnCents: (consumerId) =>
      sql<{ readonly load_id: string; readonly cents: bigint }>`
        SELECT load_id, sum(amount_cents)::int8 AS cents FROM withdrawal_parts
        WHERE consumer_id = ${consumerId} AND state NOT IN ('failed', 'returned') GROUP BY load_id`.pipe(
        Effect.map((rows) => new Map(rows.map((row) => [LoadId.make(row.load_id), Number(row.cents)])))
      )
  }
})

export const layer = Layer.mergeAll(chargebackStore, freezeStore, loadStore, spendingByLot, withdrawalStore)

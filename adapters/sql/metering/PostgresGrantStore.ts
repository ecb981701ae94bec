/**
 * Grants in PostgreSQL. The consumer's row is locked first, so that caps and counts hold under concurrency.
 */
import { Array as Arr, type DateTime, Effect, Layer, Option } from "effect"
import {
  DEAD_GRANTS_SHOWN_MAX,
  type Grant,
  type GrantPeriod,
  type Reservation
} from "../../../domain/metering/Grant.ts"
import { GrantStore } from "../../../domain/metering/GrantStore.ts"
import { ConsumerId, GrantId, ProviderId, type ReceiptId, ToolId } from "../../../domain/shared/Ids.ts"
import { Microcents } from "../../../domain/shared/Microcents.ts"
import { receiptOfUuid, uuidOfReceipt } from "../ledger/LedgerCodes.ts"
import { toDate, toDateOrNull, toInstant, toInstantOrUndefined } from "../shared/Instants.ts"
import { storeSql } from "../shared/StoreSql.ts"

interface GrantRow {
  readonly consumer_id: string
  readonly grant_id: string
  readonly provider_id: string
  readonly tool_ids: ReadonlyArray<string>
  readonly cap: bigint
  readonly period: GrantPeriod
  readonly period_start: Date
  readonly spent: bigint
  readonly created_at: Date
  readonly expires_at: Date | null
  readonly revoked_at: Date | null
}

interface ReservationRow {
  readonly consumer_id: string
  readonly invocation_id: string
  readonly grant_id: string
  readonly amount: bigint
  readonly period_start: Date
  readonly reserved_at: Date
}

export const layer = Layer.effect(
  GrantStore,
  Effect.gen(function* () {
    const sql = yield* storeSql

    const lock = (consumerId: ConsumerId) => sql`SELECT FROM consumers WHERE id = ${consumerId} FOR NO KEY UPDATE`

    return GrantStore.of({
      insert: Effect.fn("PostgresGrantStore.insert")(
        (grant: Grant) =>
          sql`
          INSERT INTO grants (consumer_id, grant_id, provider_id, tool_ids, cap, period, period_start, spent, created_at,
            expires_at, revoked_at)
          VALUES (${grant.consumerId}, ${grant.id}, ${grant.providerId}, ${grant.toolIds}::uuid[], ${grant.cap},
            ${grant.period}, ${toDate(grant.periodStart)}, ${grant.spent}, ${toDate(grant.createdAt)},
            ${toDateOrNull(grant.expiresAt)}::timestamptz, ${toDateOrNull(grant.revokedAt)}::timestamptz)`,
        Effect.asVoid
      ),

      ofConsumer: Effect.fn("PostgresGrantStore.ofConsumer")(function* (consumerId: ConsumerId, now: DateTime.Utc) {
        yield* lock(consumerId)
        const live = sql`(revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ${toDate(now)}))`
        const rows = yield* sql<GrantRow>`
          SELECT * FROM (
            SELECT * FROM grants WHERE consumer_id = ${consumerId} AND ${live}
            UNION ALL
            (SELECT * FROM grants WHERE consumer_id = ${consumerId} AND NOT ${live}
              ORDER BY created_at DESC, grant_id DESC LIMIT ${DEAD_GRANTS_SHOWN_MAX})
          ) AS shown ORDER BY created_at DESC, grant_id DESC`
        return rows.map(toGrant)
      }),

      between: Effect.fn("PostgresGrantStore.between")(function* (
        consumerId: ConsumerId,
        providerId: ProviderId,
        now: DateTime.Utc
      ) {
        yield* lock(consumerId)
        const rows = yield* sql<GrantRow>`
            SELECT * FROM grants
            WHERE consumer_id = ${consumerId} AND provider_id = ${providerId} AND revoked_at IS NULL
              AND (expires_at IS NULL OR expires_at > ${toDate(now)})
            ORDER BY created_at, grant_id`
        return rows.map(toGrant)
      }),

      find: Effect.fn("PostgresGrantStore.find")(function* (consumerId: ConsumerId, id: GrantId) {
        yield* lock(consumerId)
        const rows = yield* sql<GrantRow>`SELECT * FROM grants WHERE consumer_id = ${consumerId} AND grant_id = ${id}`
        return Option.map(Arr.head(rows), toGrant)
      }),

      revoke: Effect.fn("PostgresGrantStore.revoke")(
        (consumerId: ConsumerId, id: GrantId, at: DateTime.Utc) =>
          sql<GrantRow>`
          UPDATE grants SET revoked_at = ${toDate(at)}
          WHERE consumer_id = ${consumerId} AND grant_id = ${id} AND revoked_at IS NULL RETURNING *`,
        Effect.map((rows) => Option.map(Arr.head(rows), toGrant))
      ),

      setSpent: Effect.fn("PostgresGrantStore.setSpent")(
        (id: GrantId, consumerId: ConsumerId, spent: bigint, periodStart: DateTime.Utc) =>
          sql`
          UPDATE grants SET spent = ${spent}, period_start = ${toDate(periodStart)}
          WHERE consumer_id = ${consumerId} AND grant_id = ${id}`,
        Effect.asVoid
      ),

      reserve: Effect.fn("PostgresGrantStore.reserve")(
        (reservation: Reservation) => sql`
          INSERT INTO grant_reservations (consumer_id, invocation_id, grant_id, amount, period_start, reserved_at)
          VALUES (${reservation.consumerId}, ${uuidOfReceipt(reservation.invocationId)}, ${reservation.grantId},
            ${reservation.amount}, ${toDate(reservation.periodStart)}, ${toDate(reservation.reservedAt)})`,
        Effect.asVoid
      ),

      takeReservation: Effect.fn("PostgresGrantStore.takeReservation")(
        (consumerId: ConsumerId, invocationId: ReceiptId) => sql<ReservationRow>`
          DELETE FROM grant_reservations
          WHERE consumer_id = ${consumerId} AND invocation_id = ${uuidOfReceipt(invocationId)} RETURNING *`,
        Effect.map((rows) => Option.map(Arr.head(rows), toReservation))
      ),

      reservedBefore: Effect.fn("PostgresGrantStore.reservedBefore")(
        (before: DateTime.Utc, limit: number) => sql<ReservationRow>`
          SELECT * FROM grant_reservations WHERE reserved_at < ${toDate(before)}
          ORDER BY reserved_at, invocation_id LIMIT ${limit}`,
        Effect.map((rows) => rows.map(toReservation))
      )
    })
  })
)

const toReservation = (row: ReservationRow): Reservation => ({
  consumerId: ConsumerId.make(row.consumer_id),
  invocationId: receiptOfUuid(row.invocation_id),
  grantId: GrantId.make(row.grant_id),
  amount: Microcents.make(row.amount),
  periodStart: toInstant(row.period_start),
  reservedAt: toInstant(row.reserved_at)
})

const toGrant = (row: GrantRow): Grant => ({
  id: GrantId.make(row.grant_id),
  consumerId: ConsumerId.make(row.consumer_id),
  providerId: ProviderId.make(row.provider_id),
  toolIds: row.tool_ids.map((id) => ToolId.make(id)),
  cap: Microcents.make(row.cap),
  period: row.period,
  periodStart: toInstant(row.period_start),
  spent: row.spent,
  createdAt: toInstant(row.created_at),
  expiresAt: toInstantOrUndefined(row.expires_at),
  revokedAt: toInstantOrUndefined(row.revoked_at)
})

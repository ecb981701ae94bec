/**
 * Grants in PostgreSQL. The consumer's row is locked first, so that caps and counts hold under concurrency.
 */
import { type DateTime, Effect, Layer } from "effect"
import { DEAD_GRANTS_SHOWN_MAX, type Grant, GrantStore, type Reservation } from "../../../domain/metering/Grants.ts"
import type { ConsumerId } from "../../../domain/shared/Ids.ts"
import { receiptOfUuid, uuidOfReceipt } from "../ledger/LedgerCodes.ts"
import { toDate, toDateOrNull } from "../shared/Instants.ts"
import { rowReader } from "../shared/RowReader.ts"
import { storeSql } from "../shared/StoreSql.ts"

const toGrant = rowReader<Grant>({ grant_id: "id" })
const toReservation = rowReader<Reservation>({}, { invocation_id: receiptOfUuid })

export const layer = Layer.effect(
  GrantStore,
  Effect.gen(function* () {
    const sql = yield* storeSql

    const lock = (consumerId: ConsumerId) => sql`SELECT FROM consumers WHERE id = ${consumerId} FOR NO KEY UPDATE`

    const isActive = (now: DateTime.Utc) =>
      sql`(revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ${toDate(now)}))`

    return GrantStore.of({
      insert: Effect.fn("PostgresGrantStore.insert")(
        (grant) => sql`
          INSERT INTO grants (consumer_id, grant_id, provider_id, tool_ids, cap, period, period_start, spent, created_at,
            expires_at, revoked_at)
          VALUES (${grant.consumerId}, ${grant.id}, ${grant.providerId}, ${grant.toolIds}::uuid[], ${grant.cap},
            ${grant.period}, ${toDate(grant.periodStart)}, ${grant.spent}, ${toDate(grant.createdAt)},
            ${toDateOrNull(grant.expiresAt)}::timestamptz, ${toDateOrNull(grant.revokedAt)}::timestamptz)`,
        Effect.asVoid
      ),

      ofConsumer: Effect.fn("PostgresGrantStore.ofConsumer")(function* (consumerId, now) {
        yield* lock(consumerId)
        return yield* sql`
          SELECT * FROM (
            SELECT * FROM grants WHERE consumer_id = ${consumerId} AND ${isActive(now)}
            UNION ALL
            (SELECT * FROM grants WHERE consumer_id = ${consumerId} AND NOT ${isActive(now)}
              ORDER BY created_at DESC, grant_id DESC LIMIT ${DEAD_GRANTS_SHOWN_MAX})
          ) AS shown ORDER BY created_at DESC, grant_id DESC`.all(toGrant)
      }),

      between: Effect.fn("PostgresGrantStore.between")(function* (consumerId, providerId, now) {
        yield* lock(consumerId)
        return yield* sql`
          SELECT * FROM grants
          WHERE consumer_id = ${consumerId} AND provider_id = ${providerId} AND ${isActive(now)}
          ORDER BY created_at, grant_id`.all(toGrant)
      }),

      find: Effect.fn("PostgresGrantStore.find")(function* (consumerId, id) {
        yield* lock(consumerId)
        return yield* sql`
          SELECT * FROM grants WHERE consumer_id = ${consumerId} AND grant_id = ${id}`.first(toGrant)
      }),

      revoke: Effect.fn("PostgresGrantStore.revoke")((consumerId, id, at) =>
        sql`
          UPDATE grants SET revoked_at = ${toDate(at)}
          WHERE consumer_id = ${consumerId} AND grant_id = ${id} AND revoked_at IS NULL RETURNING *`.first(toGrant)
      ),

      setSpent: Effect.fn("PostgresGrantStore.setSpent")(
        (id, consumerId, spent, periodStart) => sql`
          UPDATE grants SET spent = ${spent}, period_start = ${toDate(periodStart)}
          WHERE consumer_id = ${consumerId} AND grant_id = ${id}`,
        Effect.asVoid
      ),

      reserve: Effect.fn("PostgresGrantStore.reserve")(
        (reservation) => sql`
          INSERT INTO grant_reservations (consumer_id, invocation_id, grant_id, amount, period_start, reserved_at)
          VALUES (${reservation.consumerId}, ${uuidOfReceipt(reservation.invocationId)}, ${reservation.grantId},
            ${reservation.amount}, ${toDate(reservation.periodStart)}, ${toDate(reservation.reservedAt)})`,
        Effect.asVoid
      ),

      takeReservation: Effect.fn("PostgresGrantStore.takeReservation")((consumerId, invocationId) =>
        sql`
          DELETE FROM grant_reservations
          WHERE consumer_id = ${consumerId} AND invocation_id = ${uuidOfReceipt(invocationId)}
          RETURNING *`.first(toReservation)
      ),

      reservedBefore: Effect.fn("PostgresGrantStore.reservedBefore")((before, limit) =>
        sql`
          SELECT * FROM grant_reservations WHERE reserved_at < ${toDate(before)}
          ORDER BY reserved_at, invocation_id LIMIT ${limit}`.all(toReservation)
      )
    })
  })
)

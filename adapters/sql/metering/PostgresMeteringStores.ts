/**
 * Grants, bound keys, pinned tool names and unfit outputs in PostgreSQL.
 */
import { type DateTime, Effect, Layer } from "effect"
import { MeterKeyStore } from "../../../domain/metering/DirectMetering.ts"
import { DEAD_GRANTS_SHOWN_MAX, type Grant, GrantStore, type Reservation } from "../../../domain/metering/Grants.ts"
import { UnfitOutputs } from "../../../domain/metering/Settlement.ts"
import { NamePinStore, type PinFound } from "../../../domain/metering/ToolDirectory.ts"
import { type ConsumerId, ToolId } from "../../../domain/shared/Ids.ts"
import { receiptOfUuid, uuidOfReceipt } from "../ledger/LedgerCodes.ts"
import { rowReader, toDate, toDateOrNull } from "../shared/Rows.ts"
import { prune, pruneByKey, storeLayer } from "../shared/StoreSql.ts"

const toGrant = rowReader<Grant>({ grant_id: "id" })
const toReservation = rowReader<Reservation>({}, { invocation_id: receiptOfUuid })

const grantStore = storeLayer(GrantStore, (sql) => {
  const lock = (consumerId: ConsumerId) => sql`SELECT FROM consumers WHERE id = ${consumerId} FOR NO KEY UPDATE`

  const isActive = (now: DateTime.Utc) =>
    sql`(revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ${toDate(now)}))`

  return {
    insert: (grant) =>
      sql`
        INSERT INTO grants (consumer_id, grant_id, provider_id, tool_ids, cap, period, period_start, spent, created_at,
          expires_at, revoked_at)
        VALUES (${grant.consumerId}, ${grant.id}, ${grant.providerId}, ${grant.toolIds}::uuid[], ${grant.cap},
          ${grant.period}, ${toDate(grant.periodStart)}, ${grant.spent}, ${toDate(grant.createdAt)},
          ${toDateOrNull(grant.expiresAt)}::timestamptz, ${toDateOrNull(grant.revokedAt)}::timestamptz)`.done,

    ofConsumer: Effect.fnUntraced(function* (consumerId, now) {
      yield* lock(consumerId)
      return yield* sql`
        SELECT * FROM (
          SELECT * FROM grants WHERE consumer_id = ${consumerId} AND ${isActive(now)}
          UNION ALL
          (SELECT * FROM grants WHERE consumer_id = ${consumerId} AND NOT ${isActive(now)}
            ORDER BY created_at DESC, grant_id DESC LIMIT ${DEAD_GRANTS_SHOWN_MAX})
        ) AS shown ORDER BY created_at DESC, grant_id DESC`.all(toGrant)
    }),

    between: Effect.fnUntraced(function* (consumerId, providerId, now) {
      yield* lock(consumerId)
      return yield* sql`
        SELECT * FROM grants
        WHERE consumer_id = ${consumerId} AND provider_id = ${providerId} AND ${isActive(now)}
        ORDER BY created_at, grant_id`.all(toGrant)
    }),

    find: Effect.fnUntraced(function* (consumerId, id) {
      yield* lock(consumerId)
      return yield* sql`
        SELECT * FROM grants WHERE consumer_id = ${consumerId} AND grant_id = ${id}`.first(toGrant)
    }),

    revoke: (consumerId, id, at) =>
      sql`
        UPDATE grants SET revoked_at = ${toDate(at)}
        WHERE consumer_id = ${consumerId} AND grant_id = ${id} AND revoked_at IS NULL RETURNING *`.first(toGrant),

    setSpent: (id, consumerId, spent, periodStart) =>
      sql`
        UPDATE grants SET spent = ${spent}, period_start = ${toDate(periodStart)}
        WHERE consumer_id = ${consumerId} AND grant_id = ${id}`.done,

    reserve: (reservation) =>
      sql`
        INSERT INTO grant_reservations (consumer_id, invocation_id, grant_id, amount, period_start, reserved_at)
        VALUES (${reservation.consumerId}, ${uuidOfReceipt(reservation.invocationId)}, ${reservation.grantId},
          ${reservation.amount}, ${toDate(reservation.periodStart)}, ${toDate(reservation.reservedAt)})`.done,

    takeReservation: (consumerId, invocationId) =>
      sql`
        DELETE FROM grant_reservations
        WHERE consumer_id = ${consumerId} AND invocation_id = ${uuidOfReceipt(invocationId)}
        RETURNING *`.first(toReservation),

    reservedBefore: (before, limit) =>
      sql`
        SELECT * FROM grant_reservations WHERE reserved_at < ${toDate(before)}
        ORDER BY reserved_at, invocation_id LIMIT ${limit}`.all(toReservation)
  }
})

// A report is one statement: the row lock orders concurrent ones.

const meterKeyStore = storeLayer(MeterKeyStore, (sql) => ({
  bind: ({ consumerId, keyHash, providerId }, at) =>
    sql`
      INSERT INTO meter_keys AS k (provider_id, key_hash, consumer_id, bindings, bound_at)
      VALUES (${providerId}, decode(${keyHash}, 'hex'), ${consumerId}, 1, ${toDate(at)})
      ON CONFLICT (provider_id, key_hash) DO UPDATE SET consumer_id = excluded.consumer_id,
        bindings = k.bindings + 1, bound_at = greatest(k.bound_at, excluded.bound_at)
      WHERE k.consumer_id = excluded.consumer_id OR k.bindings = 0
      RETURNING 1 AS bound`.hasRows,

  release: ({ consumerId, keyHash, providerId }) =>
    sql`
      UPDATE meter_keys SET bindings = bindings - 1
      WHERE provider_id = ${providerId} AND key_hash = decode(${keyHash}, 'hex') AND consumer_id = ${consumerId}
        AND bindings > 0`.done,

  prune: (before, limit) => prune(sql, "meter_keys", sql`bound_at < ${toDate(before)}`, limit)
}))

interface PinRow {
  readonly tool_id: string | null
  readonly is_full: boolean
}

const namePinStore = storeLayer(NamePinStore, (sql) => ({
  find: (consumerId, toolName, pinsMax) =>
    sql<PinRow>`
      SELECT p.tool_id, p.tool_id IS NULL AND (
          SELECT count(*) FROM (SELECT 1 FROM tool_name_pins WHERE consumer_id = ${consumerId} LIMIT ${pinsMax}::int8) pins
        ) >= ${pinsMax}::int8 AS is_full
      FROM (SELECT 1) given LEFT JOIN tool_name_pins p ON p.consumer_id = ${consumerId} AND p.tool_name = ${toolName}`.one(
      (row): PinFound =>
        row.tool_id === null
          ? { _tag: row.is_full ? "Full" : "Free" }
          : { _tag: "Pinned", toolId: ToolId.make(row.tool_id) }
    ),

  // The update changes nothing: it makes the statement return the existing row.
  pin: ({ consumerId, toolId, toolName }, at) =>
    sql<{ readonly tool_id: string }>`
      INSERT INTO tool_name_pins AS p (consumer_id, tool_name, tool_id, pinned_at)
      VALUES (${consumerId}, ${toolName}, ${toolId}, ${toDate(at)})
      ON CONFLICT (consumer_id, tool_name) DO UPDATE SET tool_id = p.tool_id
      RETURNING tool_id`.one((row) => ToolId.make(row.tool_id)),

  removeAll: (consumerId) => sql`DELETE FROM tool_name_pins WHERE consumer_id = ${consumerId}`.done
}))

const unfitOutputs = storeLayer(UnfitOutputs, (sql) => ({
  note: ({ consumerId, receiptId }, at) =>
    sql`
      INSERT INTO unfit_outputs (consumer_id, receipt_id, noted_at)
      VALUES (${consumerId}, ${uuidOfReceipt(receiptId)}, ${toDate(at)}) ON CONFLICT DO NOTHING`.done,

  isRecorded: ({ consumerId, receiptId }) =>
    sql`
      SELECT 1 AS noted FROM unfit_outputs
      WHERE consumer_id = ${consumerId} AND receipt_id = ${uuidOfReceipt(receiptId)}`.hasRows,

  prune: (before, limit) =>
    pruneByKey(sql, "unfit_outputs", "consumer_id, receipt_id", sql`noted_at < ${toDate(before)}`, limit)
}))

export const layer = Layer.mergeAll(grantStore, meterKeyStore, namePinStore, unfitOutputs)

/**
 * Keys in PostgreSQL.
 */
import { type DateTime, Effect, Layer } from "effect"
import { type ApiKey, DEAD_KEYS_SHOWN_MAX, KeyStore, type KeyWithOwner } from "../../../domain/accounts/Keys.ts"
import type { Microcents } from "../../../domain/shared/Microcents.ts"
import { toDate, toDateOrNull } from "../shared/Instants.ts"
import { rowReader } from "../shared/RowReader.ts"
import { storeSql } from "../shared/StoreSql.ts"

interface KeyWithOwnerRow {
  readonly owner_name: string
  readonly rate_limit_rpm: number | null
  readonly owner_default_cap_microcents: Microcents | null
}

const toKey = rowReader<ApiKey>({ default_cap_microcents: "defaultCap" })

export const layer = Layer.effect(
  KeyStore,
  Effect.gen(function* () {
    const sql = yield* storeSql

    const columns = sql.literal(
      "k.id, k.owner_id, CASE WHEN k.provider_id IS NULL THEN 'consumer' ELSE 'provider' END AS role, k.label, " +
        "k.prefix, encode(k.hash, 'hex') AS hash, k.created_at, k.expires_at, k.revoked_at, k.default_cap_microcents"
    )

    // A separate statement: the next one must see what earlier holders of this lock have committed. NO KEY UPDATE still
    // allows writes of rows that refer to the owner.
    const lockOwner = (ownerId: string) => sql`
      WITH consumer AS (SELECT FROM consumers WHERE id = ${ownerId} FOR NO KEY UPDATE),
        provider AS (SELECT FROM providers WHERE id = ${ownerId} FOR NO KEY UPDATE)
      SELECT (SELECT count(*) FROM consumer) + (SELECT count(*) FROM provider) AS locked`

    /** `isActive` in SQL. */
    const liveAt = (now: DateTime.Utc) => sql`(
      (k.revoked_at IS NULL OR k.revoked_at > ${toDate(now)}) AND (k.expires_at IS NULL OR k.expires_at > ${toDate(now)}))`

    return KeyStore.of({
      insert: Effect.fn("PostgresKeyStore.insert")(
        (key) => sql`
          INSERT INTO api_keys (id, consumer_id, provider_id, label, prefix, hash, created_at, expires_at, revoked_at,
            default_cap_microcents)
          VALUES (${key.id}, ${key.role === "consumer" ? key.ownerId : null}::uuid,
            ${key.role === "provider" ? key.ownerId : null}::uuid, ${key.label}, ${key.prefix},
            decode(${key.hash}, 'hex'), ${toDate(key.createdAt)}, ${toDateOrNull(key.expiresAt)}::timestamptz,
            ${toDateOrNull(key.revokedAt)}::timestamptz, ${key.defaultCap ?? null}::int8)`,
        Effect.asVoid
      ),

      findByHash: Effect.fn("PostgresKeyStore.findByHash")((hash) =>
        sql<KeyWithOwnerRow>`
          SELECT ${columns}, COALESCE(c.name, p.name) AS owner_name, c.rate_limit_rpm,
            c.default_cap_microcents AS owner_default_cap_microcents
          FROM api_keys k LEFT JOIN consumers c ON c.id = k.consumer_id LEFT JOIN providers p ON p.id = k.provider_id
          WHERE k.hash = decode(${hash}, 'hex')`.first(toKeyWithOwner)
      ),

      ofOwner: Effect.fn("PostgresKeyStore.ofOwner")(function* (ownerId, now) {
        if (yield* sql.isInTransaction) yield* lockOwner(ownerId)
        return yield* sql`
          SELECT * FROM (
            SELECT ${columns} FROM api_keys k WHERE k.owner_id = ${ownerId} AND ${liveAt(now)}
            UNION ALL
            (SELECT ${columns} FROM api_keys k WHERE k.owner_id = ${ownerId} AND NOT ${liveAt(now)}
              ORDER BY k.created_at DESC, k.id DESC LIMIT ${DEAD_KEYS_SHOWN_MAX})
          ) AS shown ORDER BY created_at DESC, id DESC`.all(toKey)
      }),

      revoke: Effect.fn("PostgresKeyStore.revoke")((ownerId, id, at) =>
        sql`
          UPDATE api_keys k SET revoked_at = LEAST(k.revoked_at, ${toDate(at)})
          WHERE k.id = ${id} AND k.owner_id = ${ownerId} RETURNING ${columns}`.first(toKey)
      ),

      setDefaultCap: Effect.fn("PostgresKeyStore.setDefaultCap")((ownerId, id, cap) =>
        sql`
          UPDATE api_keys k SET default_cap_microcents = ${cap ?? null}::int8
          WHERE k.id = ${id} AND k.owner_id = ${ownerId} RETURNING ${columns}`.first(toKey)
      ),

      unlabel: Effect.fn("PostgresKeyStore.unlabel")(
        (ownerId) => sql`UPDATE api_keys SET label = '' WHERE owner_id = ${ownerId} AND label <> ''`,
        Effect.asVoid
      )
    })
  })
)

const toKeyWithOwner = ({
  owner_default_cap_microcents: defaultCap,
  owner_name: ownerName,
  rate_limit_rpm: rateLimitRpm,
  ...key
}: KeyWithOwnerRow): KeyWithOwner => ({
  key: toKey(key),
  ownerName,
  rateLimitRpm: rateLimitRpm ?? undefined,
  defaultCap: defaultCap ?? undefined
})

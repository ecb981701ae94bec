/**
 * Accounts with their platform fees, handles and keys in PostgreSQL.
 */
import { type DateTime, Effect, Layer } from "effect"
import {
  AccountStore,
  type Consumer,
  type Erasure,
  type Provider,
  type ProviderFreeze
} from "../../../domain/accounts/Account.ts"
import { HandleStore, type Imitation } from "../../../domain/accounts/Handle.ts"
import { type ApiKey, DEAD_KEYS_SHOWN_MAX, KeyStore, type KeyWithOwner } from "../../../domain/accounts/Keys.ts"
import { FEE_CHANGES_SHOWN_MAX, type FeeChange, type ProviderFee } from "../../../domain/ledger/PlatformFee.ts"
import { ProviderId } from "../../../domain/shared/Ids.ts"
import type { Microcents } from "../../../domain/shared/Microcents.ts"
import { rowReader, toDate, toDateOrNull, toInstant } from "../shared/Rows.ts"
import { storeSql } from "../shared/StoreSql.ts"

export const FEE_COLUMNS = "p.fee_bps, p.upcoming_fee_bps, p.upcoming_fee_from"

export interface FeeRow {
  readonly fee_bps: number | null
  readonly upcoming_fee_bps: number | null
  readonly upcoming_fee_from: Date | null
}

export const toFee = (row: FeeRow): ProviderFee => ({
  own: row.fee_bps ?? undefined,
  upcoming:
    row.upcoming_fee_from === null
      ? undefined
      : { own: row.upcoming_fee_bps ?? undefined, effectiveFrom: toInstant(row.upcoming_fee_from) }
})

interface FeeChangeRow extends FeeRow {
  readonly recorded_at: Date
  readonly recorded_by: string
  readonly reason: string | null
}

const toFeeChange = (row: FeeChangeRow): FeeChange => ({
  fee: toFee(row),
  at: toInstant(row.recorded_at),
  by: row.recorded_by,
  reason: row.reason ?? undefined
})

export interface FrozenRow {
  readonly frozen_at: Date | null
  readonly frozen_reason: string | null
}

export const toFreeze = ({ frozen_at: at, frozen_reason: reason }: FrozenRow): ProviderFreeze | undefined =>
  at === null || reason === null ? undefined : { reason, at: toInstant(at) }

export const PROVIDER_COLUMNS =
  "id, handle, name, email, endpoint_url, description, pricing_model, default_price_microcents, features_off, created_at, " +
  "frozen_at, frozen_reason"

const toFields = rowReader<Provider>({ default_price_microcents: "defaultPrice" })

/** The row has `PROVIDER_COLUMNS`. */
export const toProvider = ({ frozen_at, frozen_reason, ...row }: FrozenRow): Provider => {
  const frozen = toFreeze({ frozen_at, frozen_reason })
  return frozen === undefined ? toFields(row) : { ...toFields(row), frozen }
}

const toConsumer = rowReader<Consumer>({ default_cap_microcents: "defaultCap" })
const toErasure = rowReader<Erasure>({ erased_by: "by", erased_at: "at" })

const accountStore = Layer.effect(
  AccountStore,
  Effect.gen(function* () {
    const sql = yield* storeSql
    return AccountStore.of({
      insertProvider: Effect.fn("PostgresAccountStore.insertProvider")(
        (provider) => sql`
          WITH added AS (
            INSERT INTO providers
              (id, handle, name, email, endpoint_url, description, pricing_model, default_price_microcents, created_at)
            VALUES (${provider.id}, ${provider.handle}, ${provider.name}, ${provider.email}, ${provider.endpointUrl}, ${provider.description},
              ${provider.pricingModel}, ${provider.defaultPrice}, ${toDate(provider.createdAt)})
            RETURNING id, created_at
          )
          INSERT INTO provider_fees (provider_id, revision, recorded_at, recorded_by)
          SELECT id, 1, created_at, 'registration' FROM added`,
        Effect.asVoid
      ),

      insertConsumer: Effect.fn("PostgresAccountStore.insertConsumer")(
        (consumer) => sql`
          INSERT INTO consumers (id, name, email, use_case, rate_limit_rpm, default_cap_microcents, created_at)
          VALUES (${consumer.id}, ${consumer.name}, ${consumer.email}, ${consumer.useCase}, ${consumer.rateLimitRpm},
            ${consumer.defaultCap ?? null}::int8, ${toDate(consumer.createdAt)})`,
        Effect.asVoid
      ),

      findProvider: Effect.fn("PostgresAccountStore.findProvider")((id) =>
        sql<FrozenRow>`SELECT ${sql.literal(PROVIDER_COLUMNS)} FROM providers WHERE id = ${id}`.first(toProvider)
      ),

      findConsumer: Effect.fn("PostgresAccountStore.findConsumer")((id) =>
        sql`SELECT * FROM consumers WHERE id = ${id}`.first(toConsumer)
      ),

      feeOf: Effect.fn("PostgresAccountStore.feeOf")(function* (id) {
        const lock = sql.literal((yield* sql.isInTransaction) ? "FOR NO KEY UPDATE" : "")
        return yield* sql<FeeRow>`
          SELECT ${sql.literal(FEE_COLUMNS)} FROM providers p WHERE id = ${id} ${lock}`.first(toFee)
      }),

      setFee: Effect.fn("PostgresAccountStore.setFee")(
        (id, { at, by, fee: { own, upcoming }, reason }) => sql`
          WITH changed AS (
            UPDATE providers SET fee_bps = ${own ?? null}::int2, upcoming_fee_bps = ${upcoming?.own ?? null}::int2,
              upcoming_fee_from = ${toDateOrNull(upcoming?.effectiveFrom)}::timestamptz WHERE id = ${id}
            RETURNING id, fee_bps, upcoming_fee_bps, upcoming_fee_from
          )
          INSERT INTO provider_fees
            (provider_id, revision, fee_bps, upcoming_fee_bps, upcoming_fee_from, recorded_at, recorded_by, reason)
          SELECT id, (SELECT max(revision) + 1 FROM provider_fees WHERE provider_id = id), fee_bps, upcoming_fee_bps,
            upcoming_fee_from, ${toDate(at)}, ${by}, ${reason ?? null}
          FROM changed`,
        Effect.asVoid
      ),

      feeHistory: Effect.fn("PostgresAccountStore.feeHistory")((id) =>
        sql<FeeChangeRow>`
          SELECT ${sql.literal(FEE_COLUMNS)}, recorded_at, recorded_by, reason FROM provider_fees p WHERE provider_id = ${id}
          ORDER BY revision DESC LIMIT ${FEE_CHANGES_SHOWN_MAX}`.all(toFeeChange)
      ),

      setFeaturesOff: Effect.fn("PostgresAccountStore.setFeaturesOff")(
        (id, features) => sql`
          UPDATE providers SET features_off = ${features.length === 0 ? null : features}::text[] WHERE id = ${id}`,
        Effect.asVoid
      ),

      setFrozen: Effect.fn("PostgresAccountStore.setFrozen")(
        (id, freeze) => sql`
          UPDATE providers SET frozen_at = ${toDateOrNull(freeze?.at)}::timestamptz, frozen_reason = ${freeze?.reason ?? null}
          WHERE id = ${id}`,
        Effect.asVoid
      ),

      updateProvider: Effect.fn("PostgresAccountStore.updateProvider")(
        (provider) => sql`
          UPDATE providers SET handle = ${provider.handle}, name = ${provider.name}, email = ${provider.email}, endpoint_url = ${provider.endpointUrl},
            description = ${provider.description}, pricing_model = ${provider.pricingModel},
            default_price_microcents = ${provider.defaultPrice} WHERE id = ${provider.id}`,
        Effect.asVoid
      ),

      changeProvider: Effect.fn("PostgresAccountStore.changeProvider")(
        (id, { description, email, endpointUrl, name }) => sql`
          UPDATE providers SET name = COALESCE(${name ?? null}::text, name), email = COALESCE(${email ?? null}::text, email),
            endpoint_url = COALESCE(${endpointUrl ?? null}::text, endpoint_url),
            description = COALESCE(${description ?? null}::text, description) WHERE id = ${id}`,
        Effect.asVoid
      ),

      updateConsumer: Effect.fn("PostgresAccountStore.updateConsumer")(
        (consumer) => sql`
          UPDATE consumers SET name = ${consumer.name}, email = ${consumer.email}, use_case = ${consumer.useCase},
            rate_limit_rpm = ${consumer.rateLimitRpm} WHERE id = ${consumer.id}`,
        Effect.asVoid
      ),

      setDefaultCap: Effect.fn("PostgresAccountStore.setDefaultCap")(
        (id, cap) => sql`UPDATE consumers SET default_cap_microcents = ${cap ?? null}::int8 WHERE id = ${id}`,
        Effect.asVoid
      ),

      recordErasure: Effect.fn("PostgresAccountStore.recordErasure")(
        (erasure) => sql`
          INSERT INTO erasures (owner_id, role, erased_by, erased_at, left_microcents)
          VALUES (${erasure.ownerId}, ${erasure.role}, ${erasure.by}, ${toDate(erasure.at)}, ${erasure.leftMicrocents})
          ON CONFLICT (owner_id) DO NOTHING`,
        Effect.asVoid
      ),

      erasureOf: Effect.fn("PostgresAccountStore.erasureOf")((id) =>
        sql`SELECT * FROM erasures WHERE owner_id = ${id}`.first(toErasure)
      ),

      counts: sql<{ readonly providers: bigint; readonly consumers: bigint }>`
        SELECT (SELECT count(*) FROM providers) AS providers, (SELECT count(*) FROM consumers) AS consumers`.one(
        ({ consumers, providers }) => ({ providers: Number(providers), consumers: Number(consumers) })
      )
    })
  })
)

// Handles in PostgreSQL. A handle is looked up by its hash, which stays after an erasure, so that the handle stays
// taken.

const handleStore = Layer.effect(
  HandleStore,
  Effect.gen(function* () {
    const sql = yield* storeSql
    const hashOf = (handle: string) => sql`sha256(convert_to(${handle}::text, 'UTF8'))`
    const isVerified = sql`EXISTS (
      SELECT FROM provider_proofs v WHERE v.provider_id = h.provider_id AND v.verified_at IS NOT NULL)`

    return HandleStore.of({
      claim: Effect.fn("PostgresHandleStore.claim")(
        ({ at, handle, providerId, skeleton }) =>
          sql`
            INSERT INTO provider_handles AS h (handle_hash, handle, skeleton, provider_id, given_at, retired)
            VALUES (${hashOf(handle)}, ${handle}, ${skeleton}, ${providerId}, ${toDate(at)}, false)
            ON CONFLICT (handle_hash) DO UPDATE SET retired = false
              WHERE h.provider_id = excluded.provider_id AND h.handle IS NOT NULL
            RETURNING 1 AS claimed`.hasRows
      ),

      ownersOf: Effect.fn("PostgresHandleStore.ownersOf")(function* (handles) {
        const rows = yield* sql<{ readonly handle: string; readonly provider_id: string }>`
          SELECT handle, provider_id FROM provider_handles WHERE handle = ANY (${handles}::text[])`
        return new Map(rows.map((row) => [row.handle, ProviderId.make(row.provider_id)]))
      }),

      resolve: Effect.fn("PostgresHandleStore.resolve")((handle) =>
        sql<{ readonly provider_id: string }>`
          SELECT provider_id FROM provider_handles WHERE handle = ${handle} AND NOT retired`.first((row) =>
          ProviderId.make(row.provider_id)
        )
      ),

      retire: Effect.fn("PostgresHandleStore.retire")(
        (handle) => sql`UPDATE provider_handles SET retired = true WHERE handle = ${handle}`,
        Effect.asVoid
      ),

      imitated: Effect.fn("PostgresHandleStore.imitated")((skeleton, except) =>
        sql<{ readonly handle: string }>`
          SELECT handle FROM provider_handles h
          WHERE skeleton = ${skeleton} AND provider_id <> ${except} AND NOT retired AND ${isVerified}
          ORDER BY given_at LIMIT 1`.first(({ handle }) => handle)
      ),

      imitations: Effect.fn("PostgresHandleStore.imitations")((limit) =>
        sql`
          SELECT i.handle, i.provider_id, h.handle AS imitates, h.provider_id AS imitated_provider_id
          FROM provider_handles h JOIN provider_handles i ON i.skeleton = h.skeleton AND i.provider_id <> h.provider_id
          WHERE NOT h.retired AND NOT i.retired AND ${isVerified}
          ORDER BY i.handle, h.handle LIMIT ${limit}`.all(rowReader<Imitation>())
      ),

      // `0` follows `/` in code point order. Listed and withdrawn tools have separate indexes by name.
      beginsToolName: Effect.fn("PostgresHandleStore.beginsToolName")((handle, except) =>
        sql<{ readonly begins: boolean }>`
          SELECT EXISTS (SELECT 1 FROM tools WHERE tool_name >= ${`${handle}/`} AND tool_name < ${`${handle}0`}
              AND withdrawn_at IS NULL AND provider_id <> ${except})
            OR EXISTS (SELECT 1 FROM tools WHERE tool_name >= ${`${handle}/`} AND tool_name < ${`${handle}0`}
              AND withdrawn_at IS NOT NULL AND provider_id <> ${except}) AS begins`.one(({ begins }) => begins)
      ),

      erase: Effect.fn("PostgresHandleStore.erase")(
        (providerId) => sql`
          UPDATE provider_handles SET handle = NULL, skeleton = NULL, retired = true WHERE provider_id = ${providerId}`,
        Effect.asVoid
      )
    })
  })
)

interface KeyWithOwnerRow {
  readonly owner_name: string
  readonly rate_limit_rpm: number | null
  readonly owner_default_cap_microcents: Microcents | null
}

const toKey = rowReader<ApiKey>({ default_cap_microcents: "defaultCap" })

const keyStore = Layer.effect(
  KeyStore,
  Effect.gen(function* () {
    const sql = yield* storeSql

    const columns = sql.literal(
      "k.id, k.owner_id, CASE WHEN k.provider_id IS NULL THEN 'consumer' ELSE 'provider' END AS role, k.label, " +
        "k.prefix, encode(k.hash, 'hex') AS hash, k.created_at, k.expires_at, k.revoked_at, k.default_cap_microcents, k.level_id"
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
            default_cap_microcents, level_id)
          VALUES (${key.id}, ${key.role === "consumer" ? key.ownerId : null}::uuid,
            ${key.role === "provider" ? key.ownerId : null}::uuid, ${key.label}, ${key.prefix},
            decode(${key.hash}, 'hex'), ${toDate(key.createdAt)}, ${toDateOrNull(key.expiresAt)}::timestamptz,
            ${toDateOrNull(key.revokedAt)}::timestamptz, ${key.defaultCap ?? null}::int8, ${key.levelId ?? null}::uuid)`,
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

      update: Effect.fn("PostgresKeyStore.update")(
        (key) => sql`
          UPDATE api_keys SET label = ${key.label}, expires_at = ${toDateOrNull(key.expiresAt)}::timestamptz,
            level_id = ${key.levelId ?? null}::uuid WHERE id = ${key.id}`,
        Effect.asVoid
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

export const layer = Layer.mergeAll(accountStore, handleStore, keyStore)

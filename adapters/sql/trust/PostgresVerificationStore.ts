/**
 * Verifications of providers, in PostgreSQL.
 */
import { Effect } from "effect"
import { ProviderId } from "../../../domain/shared/Ids.ts"
import { type Proof, type ProofLevel, VerificationStore, type Verified } from "../../../domain/trust/Challenge.ts"
import { rowReader, toDate, toDateOrNull, toInstant, toInstantOrUndefined } from "../shared/Rows.ts"
import { prune, storeLayer } from "../shared/StoreSql.ts"

interface LevelRow {
  readonly provider_id: string
  readonly level: ProofLevel
  readonly verified_at: Date
}

export const HIGHEST_LEVEL_FIRST = "array_position(ARRAY['code', 'domain', 'email'], level)"

const UNVERIFIED: Verified = { level: "unverified", at: undefined }

const toProof = rowReader<Proof>()

export const layer = storeLayer(VerificationStore, (sql) => {
  const levels = Effect.fnUntraced(function* (ids: ReadonlyArray<ProviderId>) {
    if (ids.length === 0) return new Map<ProviderId, Verified>()
    const rows = yield* sql<LevelRow>`
      SELECT DISTINCT ON (provider_id) provider_id, level, verified_at FROM provider_proofs
      WHERE provider_id = ANY (${ids}::uuid[]) AND verified_at IS NOT NULL
      ORDER BY provider_id, ${sql.literal(HIGHEST_LEVEL_FIRST)}`
    return new Map(
      rows.map((row) => [ProviderId.make(row.provider_id), { level: row.level, at: toInstant(row.verified_at) }])
    )
  })

  return {
    find: (providerId, level) =>
      sql`
        SELECT * FROM provider_proofs WHERE provider_id = ${providerId} AND level = ${level}`.first(toProof),

    lock: (providerId, level) =>
      sql`
        SELECT * FROM provider_proofs WHERE provider_id = ${providerId} AND level = ${level}
        FOR UPDATE`.first(toProof),

    put: (proof) =>
      sql`
        INSERT INTO provider_proofs (provider_id, level, subject, token_hash, token_sealed, expires_at, verified_at,
          checked_at, missed, missing_since)
        VALUES (${proof.providerId}, ${proof.level}, ${proof.subject}, ${proof.tokenHash ?? null},
          ${proof.tokenSealed ?? null}, ${toDateOrNull(proof.expiresAt)}, ${toDateOrNull(proof.verifiedAt)},
          ${toDateOrNull(proof.checkedAt)}, ${proof.missed}, ${toDateOrNull(proof.missingSince)})
        ON CONFLICT (provider_id, level) DO UPDATE SET subject = excluded.subject, token_hash = excluded.token_hash,
          token_sealed = excluded.token_sealed, expires_at = excluded.expires_at, verified_at = excluded.verified_at,
          checked_at = excluded.checked_at, missed = excluded.missed, missing_since = excluded.missing_since`.done,

    remove: (providerId) => sql`DELETE FROM provider_proofs WHERE provider_id = ${providerId} RETURNING level`.count,

    levels,

    verified: (providerId) => Effect.map(levels([providerId]), (all) => all.get(providerId) ?? UNVERIFIED),

    due: (before, limit) =>
      sql`
        SELECT * FROM provider_proofs
        WHERE verified_at IS NOT NULL AND level <> 'email' AND checked_at < ${toDate(before)}
        ORDER BY checked_at LIMIT ${limit}`.all(toProof),

    attempt: (providerId, kind, now, since) =>
      sql<{ readonly attempts: number }>`
        INSERT INTO proof_attempts AS a (provider_id, kind, since, attempts)
        VALUES (${providerId}, ${kind}, ${toDate(now)}, 1)
        ON CONFLICT (provider_id, kind) DO UPDATE SET
          attempts = CASE WHEN a.since < ${toDate(since)} THEN 1 ELSE a.attempts + 1 END,
          since = CASE WHEN a.since < ${toDate(since)} THEN excluded.since ELSE a.since END
        RETURNING attempts`.one(({ attempts }) => attempts),

    /** The row lock orders concurrent requests. */
    mailed: Effect.fnUntraced(function* (addressHash, now, since, max) {
      const hash = Buffer.from(addressHash, "hex")
      const sent = yield* sql<{ readonly sent: ReadonlyArray<Date> }>`
        INSERT INTO mailed_addresses (address_hash, sent, last_sent) VALUES (${hash}, '{}', ${toDate(now)})
        ON CONFLICT (address_hash) DO UPDATE SET last_sent = excluded.last_sent RETURNING sent`.one((row) => row.sent)
      const counted = sent.filter((at) => at > toDate(since)).toSorted((a, b) => a.getTime() - b.getTime())
      if (counted.length >= max) return toInstantOrUndefined(counted[0] ?? null) ?? now
      yield* sql`
        UPDATE mailed_addresses SET sent = ${[...counted, toDate(now)]}::timestamptz[] WHERE address_hash = ${hash}`
      return undefined
    }, sql.withTransaction),

    forgetMailed: (before, limit) => prune(sql, "mailed_addresses", sql`last_sent < ${toDate(before)}`, limit)
  }
})

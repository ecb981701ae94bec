/**
 * Handles in PostgreSQL. A handle is looked up by its hash, which stays after an erasure, so that the handle stays
 * taken.
 */
import { Effect, Layer } from "effect"
import { HandleStore, type Imitation } from "../../../domain/accounts/Handle.ts"
import { ProviderId } from "../../../domain/shared/Ids.ts"
import { toDate } from "../shared/Instants.ts"
import { rowReader } from "../shared/RowReader.ts"
import { storeSql } from "../shared/StoreSql.ts"

export const layer = Layer.effect(
  HandleStore,
  Effect.gen(function* () {
    const sql = yield* storeSql
    const hashOf = (handle: string) => sql`sha256(convert_to(${handle}::text, 'UTF8'))`
    /** Whether the provider of handle `h` is verified. */
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
          SELECT EXISTS (SELECT FROM tools WHERE tool_name >= ${`${handle}/`} AND tool_name < ${`${handle}0`}
              AND withdrawn_at IS NULL AND provider_id <> ${except})
            OR EXISTS (SELECT FROM tools WHERE tool_name >= ${`${handle}/`} AND tool_name < ${`${handle}0`}
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

/**
 * The waitlist in PostgreSQL.
 */
import { Effect, Layer } from "effect"
import { type WaitlistEntry, WaitlistStore } from "../../../domain/platform/Submissions.ts"
import { toDate } from "../shared/Instants.ts"
import { rowReader } from "../shared/RowReader.ts"
import { storeSql } from "../shared/StoreSql.ts"

export const layer = Layer.effect(
  WaitlistStore,
  Effect.gen(function* () {
    const sql = yield* storeSql
    return WaitlistStore.of({
      add: Effect.fn("PostgresWaitlistStore.add")(
        ({ email, id, joinedAt, source }) =>
          sql`
            INSERT INTO waitlist (id, email, source, joined_at)
            VALUES (${id}, ${email}, ${source}, ${toDate(joinedAt)})
            ON CONFLICT (email) DO NOTHING RETURNING id`.hasRows
      ),

      find: (email) => sql`SELECT * FROM waitlist WHERE email = ${email}`.first(rowReader<WaitlistEntry>()),

      erase: Effect.fn("PostgresWaitlistStore.erase")(
        (email) =>
          sql`
            UPDATE waitlist SET email = 'erased+' || id || '@erased.invalid', source = '' WHERE email = ${email}
            RETURNING id`.hasRows
      ),

      count: Effect.fn("PostgresWaitlistStore.count")((since) =>
        sql<{ readonly found: bigint }>`
          SELECT count(*) AS found FROM waitlist
          ${since === undefined ? sql`` : sql`WHERE joined_at >= ${toDate(since)}`}`.one(({ found }) => Number(found))
      )
    })
  })
)

/**
 * The waitlist in PostgreSQL.
 */
import { Array as Arr, type DateTime, Effect, Layer, Option } from "effect"
import { type WaitlistEntry, WaitlistStore } from "../../../domain/platform/WaitlistStore.ts"
import { toDate, toInstant } from "../shared/Instants.ts"
import { storeSql } from "../shared/StoreSql.ts"

interface WaitlistRow {
  readonly id: string
  readonly email: string
  readonly source: string
  readonly joined_at: Date
}

export const layer = Layer.effect(
  WaitlistStore,
  Effect.gen(function* () {
    const sql = yield* storeSql

    const add = Effect.fn("PostgresWaitlistStore.add")(function* ({ email, id, joinedAt, source }: WaitlistEntry) {
      const rows = yield* sql`INSERT INTO waitlist (id, email, source, joined_at)
        VALUES (${id}, ${email}, ${source}, ${toDate(joinedAt)})
        ON CONFLICT (email) DO NOTHING RETURNING id`
      return rows.length === 1
    })

    const count = Effect.fn("PostgresWaitlistStore.count")(function* (since?: DateTime.Utc) {
      const [row] = yield* since === undefined
        ? sql<{ readonly found: bigint }>`SELECT count(*) AS found FROM waitlist`
        : sql<{ readonly found: bigint }>`SELECT count(*) AS found FROM waitlist WHERE joined_at >= ${toDate(since)}`
      return Number(row!.found)
    })

    return WaitlistStore.of({
      add,
      find: (email) =>
        sql<WaitlistRow>`SELECT * FROM waitlist WHERE email = ${email}`.pipe(
          Effect.map((rows) => Option.map(Arr.head(rows), toEntry))
        ),
      erase: Effect.fn("PostgresWaitlistStore.erase")(
        (email) => sql`
          UPDATE waitlist SET email = 'erased+' || id || '@erased.invalid', source = '' WHERE email = ${email}
          RETURNING id`,
        Effect.map((rows) => rows.length === 1)
      ),
      count
    })
  })
)

const toEntry = (row: WaitlistRow): WaitlistEntry => ({
  id: row.id,
  email: row.email,
  source: row.source,
  joinedAt: toInstant(row.joined_at)
})

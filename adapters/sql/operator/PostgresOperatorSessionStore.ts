/**
 * The operator's sessions in PostgreSQL.
 */
import { Effect, Layer } from "effect"
import { type OperatorSession, OperatorSessionStore, type SessionTimes } from "../../../domain/accounts/Principal.ts"
import { toDate } from "../shared/Instants.ts"
import { rowReader } from "../shared/RowReader.ts"
import { storeSql } from "../shared/StoreSql.ts"

const toSession = rowReader<OperatorSession>({ session_id: "id" })

export const layer = Layer.effect(
  OperatorSessionStore,
  Effect.gen(function* () {
    const sql = yield* storeSql
    const isOver = ({ idleSince, now }: SessionTimes) =>
      sql`(expires_at <= ${toDate(now)} OR last_used_at < ${toDate(idleSince)})`

    return OperatorSessionStore.of({
      insert: Effect.fn("PostgresOperatorSessionStore.insert")(function* (session, hash, liveMax) {
        yield* sql`
          INSERT INTO operator_sessions (session_id, hash, name, created_at, expires_at, last_used_at)
          VALUES (${session.id}, decode(${hash}, 'hex'), ${session.name}, ${toDate(session.createdAt)},
            ${toDate(session.expiresAt)}, ${toDate(session.lastUsedAt)})`
        yield* sql`
          DELETE FROM operator_sessions WHERE session_id IN (
            SELECT session_id FROM operator_sessions ORDER BY created_at DESC, session_id DESC OFFSET ${liveMax})`
      }),

      use: Effect.fn("PostgresOperatorSessionStore.use")((hash, times) =>
        sql`
          UPDATE operator_sessions SET last_used_at = ${toDate(times.now)}
          WHERE hash = decode(${hash}, 'hex') AND NOT ${isOver(times)}
          RETURNING session_id, name, created_at, expires_at, last_used_at`.first(toSession)
      ),

      end: Effect.fn("PostgresOperatorSessionStore.end")(
        (id) => sql`DELETE FROM operator_sessions WHERE session_id = ${id} RETURNING session_id`.hasRows
      ),

      endAll: sql`DELETE FROM operator_sessions RETURNING session_id`.count,

      prune: Effect.fn("PostgresOperatorSessionStore.prune")(
        (times, limit) =>
          sql`
            DELETE FROM operator_sessions WHERE session_id IN (
              SELECT session_id FROM operator_sessions WHERE ${isOver(times)} LIMIT ${limit})
            RETURNING session_id`.count
      )
    })
  })
)

/**
 * Sessions of MCP clients in PostgreSQL.
 */
import { Effect, Layer } from "effect"
import { type McpSession, McpSessionStore } from "../../../domain/mcp/McpStores.ts"
import { ConsumerId, ProviderId } from "../../../domain/shared/Ids.ts"
import { toDate, toInstant } from "../shared/Instants.ts"
import { prune } from "../shared/Prune.ts"
import { storeSql } from "../shared/StoreSql.ts"

interface SessionRow {
  readonly id: string
  readonly consumer_id: string
  readonly provider_id: string | null
  readonly endpoint_url: string | null
  readonly version: string
  readonly upstream_version: string | null
  readonly upstream_session_id: string | null
  readonly client_params: string
  readonly has_state: boolean
  readonly created_at: Date
  readonly last_seen_at: Date
  readonly expires_at: Date
}

export const layer = Layer.effect(
  McpSessionStore,
  Effect.gen(function* () {
    const sql = yield* storeSql

    return McpSessionStore.of({
      // A statement does not see the row that it inserts: the others are counted without it.
      open: Effect.fn("PostgresMcpSessionStore.open")((session, sessionsMax) =>
        sql<SessionRow>`
          WITH opened AS (
            INSERT INTO mcp_sessions (id, consumer_id, provider_id, endpoint_url, version, upstream_version,
              upstream_session_id, client_params, has_state, created_at, last_seen_at, expires_at)
            VALUES (${session.id}, ${session.consumerId}, ${session.server?.providerId ?? null},
              ${session.server?.endpointUrl ?? null}, ${session.version}, ${session.upstream?.version ?? null}, ${session.upstream?.sessionId ?? null},
              ${session.clientParams}, ${session.hasState}, ${toDate(session.createdAt)},
              ${toDate(session.lastSeenAt)}, ${toDate(session.expiresAt)})
          )
          DELETE FROM mcp_sessions WHERE id IN (
            SELECT id FROM mcp_sessions WHERE consumer_id = ${session.consumerId}
            ORDER BY last_seen_at DESC, id OFFSET ${sessionsMax - 1}::int8 FOR UPDATE SKIP LOCKED)
          RETURNING *`.all(toSession)
      ),

      find: (id) => sql<SessionRow>`SELECT * FROM mcp_sessions WHERE id = ${id}`.first(toSession),

      touch: Effect.fn("PostgresMcpSessionStore.touch")(
        (id, lastSeenAt, expiresAt) => sql`
          UPDATE mcp_sessions SET last_seen_at = ${toDate(lastSeenAt)}, expires_at = ${toDate(expiresAt)}
          WHERE id = ${id}`,
        Effect.asVoid
      ),

      replaceUpstream: Effect.fn("PostgresMcpSessionStore.replaceUpstream")(
        (id, lost, next) =>
          sql`
            UPDATE mcp_sessions SET upstream_version = ${next.version}, upstream_session_id = ${next.sessionId ?? null}
            WHERE id = ${id} AND NOT has_state AND upstream_version = ${lost.version}
              AND upstream_session_id IS NOT DISTINCT FROM ${lost.sessionId ?? null}::text
            RETURNING 1 AS replaced`.hasRows
      ),

      markState: Effect.fn("PostgresMcpSessionStore.markState")(
        (id) => sql`UPDATE mcp_sessions SET has_state = true WHERE id = ${id} AND NOT has_state`,
        Effect.asVoid
      ),

      end: Effect.fn("PostgresMcpSessionStore.end")((id) =>
        sql<SessionRow>`DELETE FROM mcp_sessions WHERE id = ${id} RETURNING *`.first(toSession)
      ),

      removeAll: Effect.fn("PostgresMcpSessionStore.removeAll")(
        (consumerId) => sql`DELETE FROM mcp_sessions WHERE consumer_id = ${consumerId}`,
        Effect.asVoid
      ),

      prune: Effect.fn("PostgresMcpSessionStore.prune")((expiredBefore, limit) =>
        prune(sql, "mcp_sessions", sql`expires_at < ${toDate(expiredBefore)}`, limit)
      )
    })
  })
)

const toSession = (row: SessionRow): McpSession => ({
  id: row.id,
  consumerId: ConsumerId.make(row.consumer_id),
  server:
    row.provider_id === null
      ? undefined
      : { providerId: ProviderId.make(row.provider_id), endpointUrl: row.endpoint_url! },
  version: row.version,
  upstream:
    row.upstream_version === null
      ? undefined
      : { version: row.upstream_version, sessionId: row.upstream_session_id ?? undefined },
  clientParams: row.client_params,
  hasState: row.has_state,
  createdAt: toInstant(row.created_at),
  lastSeenAt: toInstant(row.last_seen_at),
  expiresAt: toInstant(row.expires_at)
})

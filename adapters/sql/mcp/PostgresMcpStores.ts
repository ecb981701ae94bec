/**
 * Sessions and streams of MCP clients, aliases of tools and toolboxes in PostgreSQL.
 */
import { Effect, Layer } from "effect"
import { scopeId, ToolboxStore } from "../../../domain/accounts/ToolboxStore.ts"
import { type McpSession, McpSessionStore, McpStreamStore, type StoredEvent } from "../../../domain/mcp/McpStores.ts"
import { ToolAliasStore } from "../../../domain/mcp/ToolAliases.ts"
import { type ProviderId, ToolId } from "../../../domain/shared/Ids.ts"
import { column, OID } from "../shared/Columns.ts"
import { rowReader, toDate } from "../shared/Rows.ts"
import { prune, storeLayer } from "../shared/StoreSql.ts"

interface SessionColumns extends Omit<McpSession, "server" | "upstream"> {
  readonly providerId: ProviderId | undefined
  readonly endpointUrl: string | undefined
  readonly upstreamVersion: string | undefined
  readonly upstreamSessionId: string | undefined
}

const toSessionColumns = rowReader<SessionColumns>()

const toSession = (row: object): McpSession => {
  const { endpointUrl, providerId, upstreamSessionId, upstreamVersion, ...session } = toSessionColumns(row)
  return {
    ...session,
    server: providerId === undefined ? undefined : { providerId, endpointUrl: endpointUrl! },
    upstream: upstreamVersion === undefined ? undefined : { version: upstreamVersion, sessionId: upstreamSessionId }
  }
}

const mcpSessionStore = storeLayer(McpSessionStore, (sql) => ({
  // A statement does not see the row that it inserts: the others are counted without it.
  open: (session, sessionsMax) =>
    sql`
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
      RETURNING *`.all(toSession),

  find: (id) => sql`SELECT * FROM mcp_sessions WHERE id = ${id}`.first(toSession),

  touch: (id, lastSeenAt, expiresAt) =>
    sql`
      UPDATE mcp_sessions SET last_seen_at = ${toDate(lastSeenAt)}, expires_at = ${toDate(expiresAt)}
      WHERE id = ${id}`.done,

  replaceUpstream: (id, lost, next) =>
    sql`
      UPDATE mcp_sessions SET upstream_version = ${next.version}, upstream_session_id = ${next.sessionId ?? null}
      WHERE id = ${id} AND NOT has_state AND upstream_version = ${lost.version}
        AND upstream_session_id IS NOT DISTINCT FROM ${lost.sessionId ?? null}::text
      RETURNING 1 AS replaced`.hasRows,

  markState: (id) => sql`UPDATE mcp_sessions SET has_state = true WHERE id = ${id} AND NOT has_state`.done,

  end: (id) => sql`DELETE FROM mcp_sessions WHERE id = ${id} RETURNING *`.first(toSession),

  removeAll: (consumerId) => sql`DELETE FROM mcp_sessions WHERE consumer_id = ${consumerId}`.done,

  prune: (expiredBefore, limit) => prune(sql, "mcp_sessions", sql`expires_at < ${toDate(expiredBefore)}`, limit)
}))

const mcpStreamStore = storeLayer(McpStreamStore, (sql) => ({
  append: (streamId, events, at) => {
    const sequences = column(
      events.map(({ sequence }) => sequence),
      OID.int4
    )
    const messages = column(
      events.map(({ sealedMessage }) => sealedMessage ?? null),
      OID.text
    )
    return Effect.asVoid(sql`
      INSERT INTO mcp_stream_events (stream_id, sequence, sealed_message, stored_at)
      SELECT ${streamId}, given.sequence, given.message, ${toDate(at)}
      FROM unnest(${sequences}, ${messages}) AS given (sequence, message)
      ON CONFLICT DO NOTHING`)
  },

  read: (streamId, from, limit) =>
    sql`
      SELECT sequence, sealed_message FROM mcp_stream_events
      WHERE stream_id = ${streamId} AND sequence >= ${from} ORDER BY sequence LIMIT ${limit}`.all(
      rowReader<StoredEvent>()
    ),

  prune: (before, limit) => prune(sql, "mcp_stream_events", sql`stored_at < ${toDate(before)}`, limit)
}))

// Aliases of tools in PostgreSQL. The hash of an alias stays after an erasure, so that the alias stays taken.

interface AliasRow {
  readonly alias: string
  readonly tool_id: string
}

const toolAliasStore = storeLayer(ToolAliasStore, (sql) => ({
  ofTools: (ids) =>
    Effect.map(
      sql<AliasRow>`
        SELECT tool_id, alias FROM tool_aliases WHERE tool_id = ANY (${ids}::uuid[]) AND alias IS NOT NULL`.all(
        ({ alias, tool_id }) => [ToolId.make(tool_id), alias] as const
      ),
      (rows) => new Map(rows)
    ),

  toolOf: (alias) =>
    sql<AliasRow>`SELECT tool_id, alias FROM tool_aliases WHERE alias = ${alias}`.first(({ tool_id }) =>
      ToolId.make(tool_id)
    ),

  claim: (alias, toolId, at) =>
    sql`
      INSERT INTO tool_aliases (alias_hash, alias, tool_id, given_at)
      VALUES (sha256(convert_to(${alias}::text, 'UTF8')), ${alias}, ${toolId}, ${toDate(at)})
      ON CONFLICT DO NOTHING RETURNING 1 AS claimed`.hasRows,

  erase: (providerId) =>
    sql`
      UPDATE tool_aliases SET alias = NULL
      WHERE tool_id IN (SELECT id FROM tools WHERE provider_id = ${providerId})`.done
}))

const toolboxStore = storeLayer(ToolboxStore, (sql) => ({
  tools: (scope) =>
    Effect.map(
      sql<{ readonly tool_ids: ReadonlyArray<string> }>`
        SELECT tool_ids FROM toolboxes WHERE id = ${scopeId(scope)} AND consumer_id = ${scope.consumerId}`.all(
        ({ tool_ids }) => tool_ids.map((id) => ToolId.make(id))
      ),
      (rows) => rows[0] ?? []
    ),

  put: (scope, tools, at) =>
    Effect.asVoid(
      tools.length === 0
        ? sql`DELETE FROM toolboxes WHERE id = ${scopeId(scope)} AND consumer_id = ${scope.consumerId}`
        : sql`
          INSERT INTO toolboxes AS t (id, consumer_id, tool_ids, changed_at)
          VALUES (${scopeId(scope)}, ${scope.consumerId}, ${tools}::uuid[], ${toDate(at)})
          ON CONFLICT (id) DO UPDATE SET tool_ids = excluded.tool_ids, changed_at = excluded.changed_at
            WHERE t.consumer_id = excluded.consumer_id`
    ),

  removeAll: (consumerId) => sql`DELETE FROM toolboxes WHERE consumer_id = ${consumerId}`.done
}))

export const layer = Layer.mergeAll(mcpSessionStore, mcpStreamStore, toolAliasStore, toolboxStore)

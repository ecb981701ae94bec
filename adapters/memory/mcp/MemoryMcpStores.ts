/**
 * Sessions and streams of MCP clients, aliases of tools and toolboxes in memory.
 */
import { DateTime, Effect, Layer, Option, Order } from "effect"
import { scopeId, type ToolboxScope, ToolboxStore } from "../../../domain/accounts/ToolboxStore.ts"
import { type McpSession, McpSessionStore, McpStreamStore, type StoredEvent } from "../../../domain/mcp/McpStores.ts"
import { ToolAliasStore } from "../../../domain/mcp/ToolAliases.ts"
import type { ConsumerId, ToolId } from "../../../domain/shared/Ids.ts"
import type { UpstreamSession } from "../../../domain/upstream/Protocol.ts"
import { memoryLayer, memoryStore } from "../shared/MemoryStore.ts"
import { add, change, prune } from "../shared/MemoryRows.ts"
import { MemoryTables } from "../shared/MemoryTables.ts"
import { put, remove } from "../shared/MemoryUnitOfWork.ts"

const mcpSessionStore = Layer.sync(McpSessionStore, () => {
  const sessions = new Map<string, McpSession>()

  const ofConsumer = (consumerId: ConsumerId): ReadonlyArray<McpSession> =>
    [...sessions.values()].filter((session) => session.consumerId === consumerId)

  return memoryStore(McpSessionStore, {
    open: Effect.fnUntraced(function* (session, sessionsMax) {
      yield* put(sessions, session.id, session)
      const others = ofConsumer(session.consumerId).filter(({ id }) => id !== session.id)
      const ended = others.toSorted(lastUsedFirst).slice(sessionsMax - 1)
      for (const { id } of ended) yield* remove(sessions, id)
      return ended
    }),

    find: (id) => Option.fromUndefinedOr(sessions.get(id)),

    touch: (id, lastSeenAt, expiresAt) => change(sessions, id, { lastSeenAt, expiresAt }),

    replaceUpstream: (id, lost, next) => {
      const known = sessions.get(id)
      return known?.upstream !== undefined && !known.hasState && isSame(known.upstream, lost)
        ? Effect.as(change(sessions, id, { upstream: next }), true)
        : false
    },

    markState: (id) => change(sessions, id, { hasState: true }),

    end: (id) => {
      const known = Option.fromUndefinedOr(sessions.get(id))
      return Effect.as(remove(sessions, id), known)
    },

    removeAll: (consumerId) =>
      Effect.forEach(ofConsumer(consumerId), ({ id }) => remove(sessions, id), { discard: true }),

    prune: (expiredBefore, limit) =>
      prune(sessions, ({ expiresAt }) => DateTime.isLessThan(expiresAt, expiredBefore), limit)
  })
})

const isSame = (one: UpstreamSession, other: UpstreamSession): boolean =>
  one.version === other.version && one.sessionId === other.sessionId

const lastUsedFirst: Order.Order<McpSession> = Order.combine(
  Order.flip(Order.mapInput(DateTime.Order, ({ lastSeenAt }: McpSession) => lastSeenAt)),
  Order.mapInput(Order.String, ({ id }: McpSession) => id)
)

interface Row extends StoredEvent {
  readonly streamId: string
  readonly storedAt: DateTime.Utc
}

const mcpStreamStore = Layer.sync(McpStreamStore, () => {
  const rows = new Map<string, Row>()
  return memoryStore(McpStreamStore, {
    append: (streamId, events, storedAt) =>
      Effect.forEach(events, (event) => add(rows, `${streamId} ${event.sequence}`, { ...event, streamId, storedAt }), {
        discard: true
      }),

    read: (streamId, from, limit) =>
      [...rows.values()]
        .filter((row) => row.streamId === streamId && row.sequence >= from)
        .toSorted((one, other) => one.sequence - other.sequence)
        .slice(0, limit)
        .map(({ sealedMessage, sequence }) => ({ sequence, sealedMessage })),

    prune: (before, limit) =>
      prune(rows, ({ storedAt }) => storedAt.epochMilliseconds < before.epochMilliseconds, limit)
  })
})

interface AliasRow {
  readonly toolId: ToolId
  readonly erased: boolean
}

const toolAliasStore = memoryLayer(ToolAliasStore, MemoryTables, ({ tools }) => {
  const aliases = new Map<string, AliasRow>()
  const aliasOfTool = new Map<ToolId, string>()

  const shown = (alias: string | undefined): AliasRow | undefined => {
    const row = alias === undefined ? undefined : aliases.get(alias)
    return row?.erased === false ? row : undefined
  }

  return {
    ofTools: (ids) => {
      const found = new Map<ToolId, string>()
      for (const id of ids) {
        const alias = aliasOfTool.get(id)
        if (alias !== undefined && shown(alias) !== undefined) found.set(id, alias)
      }
      return found
    },

    toolOf: (alias) => Option.map(Option.fromNullishOr(shown(alias)), ({ toolId }) => toolId),

    claim: (alias, toolId) =>
      aliases.has(alias) || aliasOfTool.has(toolId)
        ? false
        : Effect.as(
            Effect.andThen(put(aliases, alias, { toolId, erased: false }), put(aliasOfTool, toolId, alias)),
            true
          ),

    erase: (providerId) =>
      Effect.forEach(
        [...aliases].filter(([, { toolId }]) => tools.get(toolId)?.tool.providerId === providerId),
        ([alias, row]) => put(aliases, alias, { ...row, erased: true }),
        { discard: true }
      )
  }
})

interface ToolboxRow extends ToolboxScope {
  readonly tools: ReadonlyArray<ToolId>
}

const toolboxStore = Layer.sync(ToolboxStore, () => {
  const toolboxes = new Map<string, ToolboxRow>()
  return memoryStore(ToolboxStore, {
    tools: (scope) => {
      const row = toolboxes.get(scopeId(scope))
      return row?.consumerId === scope.consumerId ? row.tools : []
    },
    put: (scope, tools) =>
      tools.length === 0 ? remove(toolboxes, scopeId(scope)) : put(toolboxes, scopeId(scope), { ...scope, tools }),
    removeAll: (consumerId) =>
      Effect.forEach(
        [...toolboxes].filter(([, row]) => row.consumerId === consumerId),
        ([id]) => remove(toolboxes, id),
        { discard: true }
      )
  })
})

export const layer = Layer.mergeAll(mcpSessionStore, mcpStreamStore, toolAliasStore, toolboxStore)

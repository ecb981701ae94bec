/**
 * Sessions of MCP clients in memory.
 */
import { DateTime, Effect, Layer, Option, Order } from "effect"
import { type McpSession, McpSessionStore } from "../../../domain/mcp/McpStores.ts"
import type { ConsumerId } from "../../../domain/shared/Ids.ts"
import type { UpstreamSession } from "../../../domain/upstream/Protocol.ts"
import { change, prune } from "../shared/MemoryRows.ts"
import { put, remove } from "../shared/MemoryUnitOfWork.ts"

export const layer = Layer.sync(McpSessionStore, () => {
  const sessions = new Map<string, McpSession>()

  const ofConsumer = (consumerId: ConsumerId): ReadonlyArray<McpSession> =>
    [...sessions.values()].filter((session) => session.consumerId === consumerId)

  return McpSessionStore.of({
    open: Effect.fnUntraced(function* (session, sessionsMax) {
      yield* put(sessions, session.id, session)
      const others = ofConsumer(session.consumerId).filter(({ id }) => id !== session.id)
      const ended = others.toSorted(lastUsedFirst).slice(sessionsMax - 1)
      for (const { id } of ended) yield* remove(sessions, id)
      return ended
    }),

    find: (id) => Effect.sync(() => Option.fromUndefinedOr(sessions.get(id))),

    touch: (id, lastSeenAt, expiresAt) => change(sessions, id, { lastSeenAt, expiresAt }),

    replaceUpstream: (id, lost, next) =>
      Effect.suspend(() => {
        const known = sessions.get(id)
        return known?.upstream !== undefined && !known.hasState && isSame(known.upstream, lost)
          ? Effect.as(change(sessions, id, { upstream: next }), true)
          : Effect.succeed(false)
      }),

    markState: (id) => change(sessions, id, { hasState: true }),

    end: (id) =>
      Effect.suspend(() => {
        const known = Option.fromUndefinedOr(sessions.get(id))
        return Effect.as(remove(sessions, id), known)
      }),

    removeAll: (consumerId) =>
      Effect.suspend(() => Effect.forEach(ofConsumer(consumerId), ({ id }) => remove(sessions, id), { discard: true })),

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

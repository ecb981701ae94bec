/**
 * Requests of MCP clients that run on this node, so that a client can cancel them at any node. In a session only a
 * notification cancels a request: a connection that breaks does not.
 */
import { Context, Effect, Layer } from "effect"
import { ChangeFeed, onEachChange } from "../shared/ChangeFeed.ts"
import { Digest } from "../shared/Cryptography.ts"
import { RingItem } from "../shared/Deadlines.ts"
import type { StoreUnavailable } from "../shared/StoreUnavailable.ts"

/** JSON that has no other form. */
const PLAIN_ID = /^(?:0|[1-9]\d{0,14}|"[A-Za-z0-9_:.-]*")$/u
const KEY_CHARS_MAX = 200

export class McpCancellations extends Context.Service<
  McpCancellations,
  {
    /** `requestId`: its JSON text. Returns what to call when the request has ended. */
    register(sessionId: string, requestId: string, cancel: () => void): () => void
    cancel(sessionId: string, requestId: string): Effect.Effect<void, StoreUnavailable>
  }
>()("agent-tool-billing/domain/mcp/McpCancellations") {
  static readonly layer = Layer.effect(
    McpCancellations,
    Effect.gen(function* () {
      const feed = yield* ChangeFeed
      const { sha256Hex } = yield* Digest
      const running = new RingItem()

      const keyOf = (sessionId: string, requestId: string): string => {
        const key = `${sessionId} ${PLAIN_ID.test(requestId) ? requestId : JSON.stringify(JSON.parse(requestId))}`
        return key.length <= KEY_CHARS_MAX ? key : sha256Hex(key)
      }

      /** Searches, because calls are many and cancellations are few. Finds the later of two with one id. */
      const find = (key: string): Running | undefined => {
        for (let each = running.before; each instanceof Running; each = each.before) {
          each.key ??= keyOf(each.sessionId, each.requestId)
          if (each.key === key) return each
        }
        return undefined
      }

      yield* onEachChange(feed, ({ id, topic }) => {
        if (topic === "mcp_cancel") find(id)?.cancel()
      })

      return McpCancellations.of({
        register: (sessionId, requestId, cancel) => {
          const request = new Running(sessionId, requestId, cancel)
          running.add(request)
          return () => request.end()
        },
        cancel: (sessionId, requestId) =>
          Effect.suspend(() => {
            const key = keyOf(sessionId, requestId)
            const request = find(key)
            if (request === undefined) return feed.publish({ topic: "mcp_cancel", id: key })
            return Effect.sync(() => request.cancel())
          })
      })
    })
  )
}

class Running extends RingItem {
  readonly sessionId: string
  readonly requestId: string
  readonly cancel: () => void
  /** Changes name it by this key, once it was asked for. */
  key: string | undefined

  constructor(sessionId: string, requestId: string, cancel: () => void) {
    super()
    this.sessionId = sessionId
    this.requestId = requestId
    this.cancel = cancel
  }
}

/**
 * Requests of MCP clients that run on this node, so that a client can cancel them at any node. In the legacy era only a
 * notification cancels a request: a connection that breaks does not.
 */
import { Context, Effect, Layer } from "effect"
import { ChangeFeed, onEachChange } from "../shared/ChangeFeed.ts"
import { Digest } from "../shared/Digest.ts"
import type { StoreUnavailable } from "../shared/StoreUnavailable.ts"

/** JSON that has no other form. */
const PLAIN_ID = /^(?:0|[1-9]\d{0,14}|"[A-Za-z0-9_:.-]*")$/u
/** Of a change that is announced. */
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
      const running = new Map<string, Running>()

      yield* onEachChange(feed, ({ id, topic }) => {
        if (topic === "mcp_cancel") running.get(id)?.cancel?.()
      })

      const keyOf = (sessionId: string, requestId: string): string => {
        const key = `${sessionId} ${PLAIN_ID.test(requestId) ? requestId : JSON.stringify(JSON.parse(requestId))}`
        return key.length <= KEY_CHARS_MAX ? key : sha256Hex(key)
      }

      return McpCancellations.of({
        register: (sessionId, requestId, cancel) => {
          const key = keyOf(sessionId, requestId)
          const request: Running = { cancel }
          running.set(key, request)
          return () => {
            request.cancel = undefined
            if (running.get(key) === request) running.delete(key)
          }
        },
        cancel: (sessionId, requestId) =>
          Effect.suspend(() => {
            const key = keyOf(sessionId, requestId)
            const request = running.get(key)
            if (request === undefined) return feed.publish({ topic: "mcp_cancel", id: key })
            return Effect.sync(() => request.cancel?.())
          })
      })
    })
  )
}

/**
 * Undefined after the end. A map that grows leaves its former table to the garbage collector, which may take long to find
 * it: with the functions themselves in the table, all that requests allocate outlived them.
 */
interface Running {
  cancel: (() => void) | undefined
}

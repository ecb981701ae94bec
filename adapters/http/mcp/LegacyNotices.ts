/**
 * Notifications of clients of the legacy era, and their responses to requests of the server: they go to the client's own
 * session at the provider's server. Cancellations end here.
 */
import { Effect } from "effect"
import { McpCalls } from "../../../domain/mcp/McpCalls.ts"
import { McpCancellations } from "../../../domain/mcp/McpCancellations.ts"
import { McpSessions } from "../../../domain/mcp/McpSessions.ts"
import { PassThrough } from "../../../domain/mcp/PassThrough.ts"
import { INTERNAL_ERROR } from "../../../domain/upstream/Protocol.ts"
import { ProviderServers, type ServerFailed } from "../../../domain/upstream/ProviderServers.ts"
import type { HandlerError } from "../metering/CallProblems.ts"
import { type LegacyContext, sessionGone } from "./LegacySessions.ts"
import { invalidRequest, limited, RpcFault } from "./RpcFault.ts"
import { type RpcNotification, type RpcResponse, textAt } from "./RpcMessage.ts"

const BAD_GATEWAY = 502

export const makeLegacyNotices = Effect.gen(function* () {
  const servers = yield* ProviderServers
  const sessions = yield* McpSessions
  const mcpCalls = yield* McpCalls
  const cancellations = yield* McpCancellations
  const passThrough = yield* PassThrough

  const tell = Effect.fnUntraced(function* (
    { caller, session }: LegacyContext,
    message: RpcNotification | RpcResponse
  ): Effect.fn.Return<void, HandlerError | RpcFault> {
    const { server, upstream } = session
    // The door itself asks nothing, and needs no notification.
    if (server === undefined || upstream === undefined) return
    /** What the message is about is lost with the session. */
    const renewed = Effect.suspend(() =>
      sessions.renew(session).pipe(
        Effect.asVoid,
        Effect.catchTags({
          McpSessionNotFound: (error) => Effect.fail(sessionGone(error)),
          ServerFailed: ({ message: reason }) => Effect.fail(failed(reason))
        })
      )
    )
    if (message._tag === "Response") mcpCalls.answered(caller.ownerId, session.id, message.id)
    const sending = servers.tell(server, upstream, message.text, caller.ownerId)
    yield* passThrough
      .limit(caller.ownerId, message.text.length, sending, () => 0)
      .pipe(
        Effect.catchTags({
          PassThroughLimited: (exceeded) => Effect.fail(limited(exceeded.message, exceeded.retryAfterSeconds)),
          ServerFailed: (failure) =>
            failure.sessionLost
              ? renewed
              : Effect.fail(isOfClient(failure) ? invalidRequest(failure.message) : failed(failure.message))
        })
      )
  })

  return (
    context: LegacyContext,
    message: RpcNotification | RpcResponse
  ): Effect.Effect<void, HandlerError | RpcFault> => {
    if (message._tag === "Response" || message.method !== CANCELED) return tell(context, message)
    const requestId = textAt(message.params, "requestId")
    if (requestId === undefined || !isRequestId(message.params?.value["requestId"], requestId)) {
      return Effect.fail(invalidRequest("`params.requestId` is required: the id of the request to cancel."))
    }
    return cancellations.cancel(context.session.id, requestId)
  }
})

const CANCELED = "notifications/cancelled"
const REQUEST_ID_CHARS_MAX = 1_024

const isRequestId = (value: unknown, text: string): boolean =>
  (typeof value === "string" || Number.isInteger(value)) && text.length <= REQUEST_ID_CHARS_MAX

/** The message itself is rejected: by the rules of what is passed on, or by the server. */
const isOfClient = ({ problem: { httpStatus = 0, kind } }: ServerFailed): boolean =>
  kind === "json_rpc_error" || (kind === "http_status" && httpStatus >= 400 && httpStatus < 500)

const failed = (reason: string): RpcFault =>
  new RpcFault({ status: BAD_GATEWAY, code: INTERNAL_ERROR, reason, data: undefined, id: undefined })

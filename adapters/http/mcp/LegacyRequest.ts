/**
 * Runs one request of a client of the legacy era. It ends by its response or by the client's cancellation. A connection that
 * breaks ends it only where the client could not come back for the response, and nothing was paid for.
 */
import { Effect } from "effect"
import { McpCancellations } from "../../../domain/mcp/McpCancellations.ts"
import { McpSessions } from "../../../domain/mcp/McpSessions.ts"
import type { UpstreamSession } from "../../../domain/upstream/Protocol.ts"
import type { HandlerError } from "../metering/CallProblems.ts"
import type { EncodedReply, RequestClock } from "../pipeline/Route.ts"
import type { DoorRequest } from "./Door.ts"
import { type LegacyContext, sessionGone } from "./LegacySessions.ts"
import type { Dispatch } from "./MethodDispatch.ts"
import type { Outgoing } from "./Outgoing.ts"
import { invalidRequest, methodNotFound } from "./RpcFault.ts"
import type { RpcRequest } from "./RpcMessage.ts"
import { faultReply, responseText, resultMember } from "./RpcReply.ts"

/** The provider's server keeps something for the session afterwards. */
const STATEFUL: ReadonlySet<string> = new Set(["resources/subscribe", "logging/setLevel"])
/** Of the modern era only. */
const UNKNOWN: ReadonlySet<string> = new Set(["server/discover", "subscriptions/listen"])

/** `onCanceled`: the client has canceled the request, and gets no response to it. */
export type LegacyRequest = (
  context: LegacyContext,
  rpc: RpcRequest,
  outgoing: Outgoing,
  onCanceled: () => void
) => Effect.Effect<EncodedReply, HandlerError>

export const makeLegacyRequest = Effect.fnUntraced(function* (dispatch: Dispatch) {
  const cancellations = yield* McpCancellations
  const sessions = yield* McpSessions

  const answered = (
    context: LegacyContext,
    rpc: RpcRequest,
    clock: RequestClock,
    onMessage: (message: string) => void
  ): Effect.Effect<EncodedReply, HandlerError> => {
    const { caller, door, input, session } = context
    let gone: EncodedReply | undefined
    const request: DoorRequest = {
      rpc,
      era: "legacy",
      // The provider's server got all of them with `initialize`.
      capabilities: session.listingCapabilities,
      clientInfo: undefined,
      session: session.upstream,
      clientSession: session.id,
      renewSession: Effect.suspend(() =>
        sessions.renew(session).pipe(
          Effect.map(({ upstream }): UpstreamSession | undefined => upstream),
          Effect.catchTags({
            McpSessionNotFound: (error) => {
              gone = faultReply(sessionGone(error, rpc.id))
              return Effect.undefined
            },
            ServerFailed: () => Effect.undefined
          })
        )
      ),
      caller,
      input,
      clock,
      onMessage
    }
    // Errors of requests are responses: clients take other statuses for failures of the transport.
    const reply = Effect.map(dispatch(door, request), (answer) => gone ?? { ...answer, status: 200 })
    return STATEFUL.has(rpc.method) ? Effect.andThen(sessions.markState(session), reply) : reply
  }

  const request: LegacyRequest = (context, rpc, outgoing, onCanceled) => {
    const { id, method } = rpc
    if (method === "ping") return Effect.succeed(replyTo(id, "{}"))
    if (method === "initialize") return Effect.succeed(rejected(invalidRequest("This session is initialized."), id))
    if (UNKNOWN.has(method)) return Effect.succeed(rejected(methodNotFound(`Method \`${method}\` does not exist.`), id))
    return Effect.suspend(() => {
      const { clock } = context.input
      let disconnect: (() => boolean) | undefined
      let isHeld = false
      let isCanceled = false
      const watched: RequestClock = {
        ...clock,
        restart: (extraMs) => {
          isHeld = true
          clock.restart(extraMs)
        },
        registerDisconnect: (continues) => {
          disconnect = continues
        }
      }
      // After a cancellation, a call that was forwarded runs to its end, unless its tool passes cancellations.
      clock.registerDisconnect(() => (!isCanceled && (isHeld || outgoing.isStream)) || disconnect?.() === true)
      const reply = answered(context, rpc, watched, (message) => outgoing.send(message))
      const ended = cancellations.register(context.session.id, id, () => {
        ended()
        isCanceled = true
        onCanceled()
      })
      return Effect.onExit(reply, (exit) => {
        ended()
        if (exit._tag === "Failure") outgoing.abandon()
        return Effect.void
      })
    })
  }
  return request
})

const replyTo = (id: string, result: string): EncodedReply => ({
  status: 200,
  headers: {},
  body: responseText(id, resultMember(result))
})

const rejected = (fault: Parameters<typeof faultReply>[0], id: string): EncodedReply => ({
  ...faultReply(fault, id),
  status: 200
})

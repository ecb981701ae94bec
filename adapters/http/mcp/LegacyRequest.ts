/**
 * Runs one request of a client of the legacy era. It ends by its response or by the client's cancellation. A connection that
 * breaks ends it only where the client could not come back for the response, and nothing was paid for.
 */
import { Effect, Fiber } from "effect"
import { McpCancellations } from "../../../domain/mcp/McpCancellations.ts"
import { McpSessions } from "../../../domain/mcp/McpSessions.ts"
import type { UpstreamSession } from "../../../domain/mcp/Protocol.ts"
import type { HandlerError } from "../pipeline/HandlerErrors.ts"
import type { EncodedReply, RequestClock } from "../pipeline/Route.ts"
import type { DoorRequest } from "./Door.ts"
import { type LegacyContext, sessionGone } from "./LegacySessions.ts"
import type { Dispatch } from "./MethodDispatch.ts"
import type { Outgoing } from "./Outgoing.ts"
import { invalidRequest, methodNotFound } from "./RpcFault.ts"
import type { RpcRequest } from "./RpcMessage.ts"
import { faultReply, responseText, resultMember } from "./RpcReply.ts"

/** After these the provider's server keeps something for the session. */
const STATEFUL: ReadonlySet<string> = new Set(["resources/subscribe", "logging/setLevel"])
/** Of the modern era only. */
const UNKNOWN: ReadonlySet<string> = new Set(["server/discover", "subscriptions/listen"])

/** Undefined: canceled. */
export type LegacyRequest = (
  context: LegacyContext,
  rpc: RpcRequest,
  outgoing: Outgoing
) => Effect.Effect<EncodedReply | undefined, HandlerError>

export const makeLegacyRequest = Effect.fnUntraced(function* (dispatch: Dispatch) {
  const cancellations = yield* McpCancellations
  const sessions = yield* McpSessions

  const answered = Effect.fnUntraced(function* (
    context: LegacyContext,
    rpc: RpcRequest,
    clock: RequestClock,
    onMessage: (message: string) => void
  ): Effect.fn.Return<EncodedReply, HandlerError> {
    const { caller, door, input, session } = context
    const { id, method, params } = rpc
    if (STATEFUL.has(method) || (method === "tools/call" && params?.value["task"] !== undefined)) {
      yield* sessions.markState(session)
    }
    let gone: EncodedReply | undefined
    const request: DoorRequest = {
      rpc,
      era: "legacy",
      // The provider's server got them with `initialize`.
      capabilities: undefined,
      clientInfo: undefined,
      session: session.upstream,
      clientSession: session.id,
      renewSession: Effect.suspend(() =>
        sessions.renew(session).pipe(
          Effect.map(({ upstream }): UpstreamSession | undefined => upstream),
          Effect.catchTags({
            McpSessionNotFound: (error) => {
              gone = faultReply(sessionGone(error, id))
              return Effect.undefined
            },
            ServerFailed: () => Effect.undefined
          })
        )
      ),
      caller,
      input: { ...input, clock },
      onMessage
    }
    const reply = yield* dispatch(door, request)
    // Errors of requests are responses: clients take other statuses for failures of the transport.
    return gone ?? { ...reply, status: 200 }
  })

  const request: LegacyRequest = (context, rpc, outgoing) => {
    const { input, session } = context
    const { id, method } = rpc
    if (method === "ping") return Effect.succeed(replyTo(id, "{}"))
    if (method === "initialize") return Effect.succeed(rejected(invalidRequest("This session is initialized."), id))
    if (UNKNOWN.has(method)) return Effect.succeed(rejected(methodNotFound(`Method \`${method}\` does not exist.`), id))
    return Effect.withFiber(({ context: services }) =>
      Effect.callback<EncodedReply | undefined, HandlerError>((resume) => {
        let leave: (() => boolean) | undefined
        let isHeld = false
        const clock: RequestClock = {
          pause: () => input.clock.pause(),
          restart: (extraMs) => {
            isHeld = true
            input.clock.restart(extraMs)
          },
          provideLeave: (continues) => {
            leave = continues
          }
        }
        input.clock.provideLeave(() => isHeld || outgoing.isStream)
        const fiber = Effect.runForkWith(services)(answered(context, rpc, clock, (message) => outgoing.send(message)))
        const stop = (): Effect.Effect<void> => {
          // A call that was forwarded runs to its end, unless its tool passes cancellations.
          if (leave?.() === true) return Effect.void
          return Fiber.interrupt(fiber)
        }
        const ended = cancellations.register(session.id, id, () => {
          ended()
          resume(Effect.as(stop(), undefined))
        })
        fiber.addObserver((exit) => {
          ended()
          resume(exit)
        })
        return Effect.suspend(() => {
          ended()
          return stop()
        })
      })
    )
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

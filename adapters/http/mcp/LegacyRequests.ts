/**
 * HTTP requests of clients of the legacy era (2025-03-26 to 2025-11-25) at a door: `initialize` opens a session, every other
 * message belongs to one.
 */
import { Effect } from "effect"
import { requestLabel } from "../../../domain/mcp/EventId.ts"
import { McpSessions } from "../../../domain/mcp/McpSessions.ts"
import { McpStreams } from "../../../domain/mcp/McpStreams.ts"
import { makeDeadlines } from "../../../domain/shared/Deadlines.ts"
import { Entropy } from "../../../domain/shared/Entropy.ts"
import type { HandlerError } from "../pipeline/HandlerErrors.ts"
import type { AnyInput, EncodedReply } from "../pipeline/Route.ts"
import type { Consumer, Door } from "./Door.ts"
import { makeLegacyNotices } from "./LegacyNotices.ts"
import { makeLegacyRequest } from "./LegacyRequest.ts"
import { type LegacyContext, makeLegacySessions } from "./LegacySessions.ts"
import { makeLegacyStreams } from "./LegacyStreams.ts"
import type { Dispatch } from "./MethodDispatch.ts"
import { Outgoing } from "./Outgoing.ts"
import { invalidRequest, RpcFault } from "./RpcFault.ts"
import type { RpcBatch, RpcMessage, RpcRequest } from "./RpcMessage.ts"
import { ACCEPTED, faultReply } from "./RpcReply.ts"

type Handled = Effect.Effect<EncodedReply, HandlerError | RpcFault>

export interface LegacyRequests {
  post(door: Door, caller: Consumer, input: AnyInput, message: RpcMessage | RpcBatch): Handled
  /** A stream of messages. */
  get(door: Door, caller: Consumer, input: AnyInput): Handled
  /** Ends a session. */
  delete(door: Door, caller: Consumer, input: AnyInput): Handled
}

/** The only version with batches. */
const BATCH_VERSION = "2025-03-26"
/** Of a batch. */
const AT_ONCE_MAX = 4
const STREAM_ID_BYTES = 16

export const makeLegacyRequests = Effect.fnUntraced(function* (dispatch: Dispatch) {
  const sessions = yield* McpSessions
  const streams = yield* McpStreams
  const entropy = yield* Entropy
  const deadlines = yield* makeDeadlines
  const { find, open } = yield* makeLegacySessions
  const request = yield* makeLegacyRequest(dispatch)
  const tell = yield* makeLegacyNotices
  const stream = yield* makeLegacyStreams

  /** A call's stream has the id of the call, by which any node finds its outcome. */
  const outgoing = ({ caller, input, session }: LegacyContext, requestId: string | undefined) =>
    Effect.map(
      entropy.hex(STREAM_ID_BYTES),
      (random) =>
        new Outgoing({
          deadlines,
          startEvents: input.startEvents,
          requestId,
          openStream: (sink) =>
            streams.open(
              {
                sessionId: session.id,
                consumerId: caller.ownerId,
                streamId:
                  requestId === undefined ? random : (input.notes.invocation_id?.slice("rcpt_".length) ?? random),
                label: requestLabel(requestId)
              },
              sink
            )
        })
    )

  const single = Effect.fnUntraced(function* (context: LegacyContext, rpc: RpcRequest) {
    const out = yield* outgoing(context, rpc.id)
    if (rpc.method === "tools/call") out.expectLong()
    const reply = yield* request(context, rpc, out).pipe(Effect.onError(() => Effect.sync(() => out.abandon())))
    return out.end(reply, reply === undefined ? [] : [textOf(reply)])
  })

  /**
   * A batch has one connection and one clock. Its call of a tool runs last and alone, so that only the call decides whether
   * the work goes on without the client, and nothing that was paid for waits for another request.
   */
  const batch = Effect.fnUntraced(function* (context: LegacyContext, { messages }: RpcBatch) {
    if (context.session.version !== BATCH_VERSION) {
      return yield* invalidRequest(
        `Batches are part of protocol version ${BATCH_VERSION} only. Send one message per request.`
      )
    }
    const out = yield* outgoing(context, undefined)
    const call = messages.find(isCall)
    const answered = (message: Message): Effect.Effect<Answer, HandlerError> => {
      if (message instanceof RpcFault) return Effect.succeed(faultReply(message))
      if (message._tag === "Request") return request(context, message, out)
      return Effect.match(tell(context, message), { onFailure: () => undefined, onSuccess: () => undefined })
    }
    const answers = yield* Effect.gen(function* () {
      const others = yield* Effect.forEach(
        messages,
        (message): Effect.Effect<Answer, HandlerError> => {
          if (message === call) return Effect.undefined
          return answered(isCall(message) ? notAlone(message) : message)
        },
        { concurrency: AT_ONCE_MAX }
      )
      if (call === undefined) return others
      out.expectLong()
      return others.with(messages.indexOf(call), yield* answered(call))
    }).pipe(Effect.onError(() => Effect.sync(() => out.end(undefined, []))))
    const responses = answers.flatMap((reply) => (reply === undefined ? [] : [textOf(reply)]))
    return out.end(
      responses.length === 0 ? ACCEPTED : { status: 200, headers: {}, body: `[${responses.join(",")}]` },
      responses
    )
  })

  return {
    post: Effect.fnUntraced(function* (door: Door, caller: Consumer, input: AnyInput, message: RpcMessage | RpcBatch) {
      if (message._tag === "Request" && message.method === "initialize")
        return yield* open(door, caller, input, message)
      const context = yield* find(door, caller, input)
      if (message._tag === "Batch") return yield* batch(context, message)
      if (message._tag === "Request") return yield* single(context, message)
      yield* tell(context, message)
      return ACCEPTED
    }),
    get: (door: Door, caller: Consumer, input: AnyInput) => Effect.flatMap(find(door, caller, input), stream),
    delete: Effect.fnUntraced(function* (door: Door, caller: Consumer, input: AnyInput) {
      const { session } = yield* find(door, caller, input)
      yield* sessions.end(session)
      return DELETED
    })
  } satisfies LegacyRequests
})

type Message = RpcBatch["messages"][number]
/** Undefined: none. */
type Answer = EncodedReply | undefined

const notAlone = ({ id }: RpcRequest): RpcFault =>
  invalidRequest("Send calls of tools one at a time: a batch may have one. Nothing was charged.", undefined, id)

const isCall = (message: Message): message is RpcRequest =>
  !(message instanceof RpcFault) && message._tag === "Request" && message.method === "tools/call"

const DELETED: EncodedReply = { status: 204, headers: {}, body: "" }

const textOf = ({ body }: EncodedReply): string => (typeof body === "string" ? body : new TextDecoder().decode(body))

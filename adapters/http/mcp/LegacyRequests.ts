/**
 * HTTP requests of clients of the legacy era (2025-03-26 to 2025-11-25) at a door: `initialize` opens a session, every other
 * message belongs to one.
 */
import { Effect } from "effect"
import { McpSessions } from "../../../domain/mcp/McpSessions.ts"
import { McpStreams, requestLabel } from "../../../domain/mcp/McpStreams.ts"
import { Entropy } from "../../../domain/shared/Cryptography.ts"
import { makeDeadlines } from "../../../domain/shared/Deadlines.ts"
import type { HandlerError } from "../metering/CallProblems.ts"
import type { AnyInput, EncodedReply } from "../pipeline/Route.ts"
import type { Consumer, Door } from "./Door.ts"
import { makeLegacyBatch, type MakeOutgoing } from "./LegacyBatch.ts"
import { makeLegacyNotices } from "./LegacyNotices.ts"
import { makeLegacyRequest } from "./LegacyRequest.ts"
import { type LegacyContext, makeLegacySessions } from "./LegacySessions.ts"
import { makeLegacyStreams } from "./LegacyStreams.ts"
import type { Dispatch } from "./MethodDispatch.ts"
import { Outgoing } from "./Outgoing.ts"
import type { RpcFault } from "./RpcFault.ts"
import type { RpcBatch, RpcMessage, RpcRequest } from "./RpcMessage.ts"
import { ACCEPTED, textOf } from "./RpcReply.ts"

type Handled = Effect.Effect<EncodedReply, HandlerError | RpcFault>

export interface LegacyRequests {
  post(door: Door, caller: Consumer, input: AnyInput, message: RpcMessage | RpcBatch): Handled
  /** A stream of messages. */
  get(door: Door, caller: Consumer, input: AnyInput): Handled
  /** Ends a session. */
  delete(door: Door, caller: Consumer, input: AnyInput): Handled
}

const STREAM_ID_BYTES = 16
const LONG: ReadonlySet<string> = new Set(["tools/call", "tasks/result"])

export const makeLegacyRequests = Effect.fnUntraced(function* (dispatch: Dispatch) {
  const sessions = yield* McpSessions
  const streams = yield* McpStreams
  const entropy = yield* Entropy
  const deadlines = yield* makeDeadlines
  const { find, open } = yield* makeLegacySessions
  const request = yield* makeLegacyRequest(dispatch)
  const tell = yield* makeLegacyNotices
  const stream = yield* makeLegacyStreams
  const draw = Effect.runSyncWith(yield* Effect.context<never>())

  /** A call's stream has the id of the call, by which any node finds its outcome. */
  const outgoing: MakeOutgoing = ({ caller, input, session }, requestId) =>
    new Outgoing({
      deadlines,
      startEvents: input.startEvents,
      requestId,
      openStream: (sink) => {
        const call = requestId === undefined ? undefined : input.notes.invocation_id
        return streams.open(
          {
            sessionId: session.id,
            consumerId: caller.ownerId,
            streamId: call?.slice("rcpt_".length) ?? draw(entropy.hex(STREAM_ID_BYTES)),
            label: requestLabel(requestId)
          },
          sink
        )
      }
    })

  const single = (context: LegacyContext, rpc: RpcRequest): Handled =>
    Effect.suspend(() => {
      const out = outgoing(context, rpc.id)
      if (LONG.has(rpc.method)) out.expectLong()
      const answered = request(context, rpc, out, () => context.input.clock.answer(out.end(undefined, [])))
      return Effect.map(answered, (reply) => out.end(reply, [textOf(reply)]))
    })

  const batch = makeLegacyBatch(request, tell, outgoing)

  const taken = (context: LegacyContext, message: RpcMessage | RpcBatch): Handled => {
    if (message._tag === "Request") return single(context, message)
    return message._tag === "Batch" ? batch(context, message) : Effect.as(tell(context, message), ACCEPTED)
  }

  return {
    post: (door, caller, input, message) =>
      message._tag === "Request" && message.method === "initialize"
        ? open(door, caller, input, message)
        : Effect.flatMapEager(find(door, caller, input), (context) => taken(context, message)),
    get: (door: Door, caller: Consumer, input: AnyInput) => Effect.flatMap(find(door, caller, input), stream),
    delete: Effect.fnUntraced(function* (door: Door, caller: Consumer, input: AnyInput) {
      const { session } = yield* find(door, caller, input)
      yield* sessions.end(session)
      return DELETED
    })
  } satisfies LegacyRequests
})

const DELETED: EncodedReply = { status: 204, headers: {}, body: "" }

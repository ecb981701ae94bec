/**
 * Clients of versions 2025-03-26 to 2025-11-25 at a door: `initialize` opens a session, every other
 * message belongs to one.
 */
import { Duration, Effect, Fiber, Schedule } from "effect"
import { McpCalls } from "../../../../domain/mcp/McpCalls.ts"
import { McpCancellations } from "../../../../domain/mcp/McpCancellations.ts"
import { McpListeners } from "../../../../domain/mcp/McpListeners.ts"
import { McpSessions } from "../../../../domain/mcp/McpSessions.ts"
import {
  FINAL_EVENT_ID,
  LostRequests,
  lostResponse,
  McpStreams,
  parseEventId,
  parseListenEventId,
  requestLabel,
  type StreamSink
} from "../../../../domain/mcp/McpStreams.ts"
import { PassThrough } from "../../../../domain/mcp/PassThrough.ts"
import { Entropy } from "../../../../domain/shared/Cryptography.ts"
import { makeDeadlines } from "../../../../domain/shared/Deadlines.ts"
import type { StoreUnavailable } from "../../../../domain/shared/StoreUnavailable.ts"
import { INTERNAL_ERROR, INVALID_REQUEST } from "../../../../domain/upstream/Protocol.ts"
import { ProviderServers, type ServerFailed } from "../../../../domain/upstream/ProviderServers.ts"
import type { HandlerError } from "../../metering/CallProblems.ts"
import { MethodNotAllowed } from "../../pipeline/Failures.ts"
import type { AnyInput, EncodedReply } from "../../pipeline/Route.ts"
import { header, OpenStreams, RECONNECT_AFTER_MS } from "../../pipeline/WebRequest.ts"
import { type Consumer, type Dispatch, type Door, isPassed, type SessionClients } from "../Door.ts"
import {
  ACCEPTED,
  faultOf,
  faultReply,
  invalidRequest,
  limited,
  type RpcBatch,
  RpcFault,
  type RpcMessage,
  type RpcNotification,
  type RpcRequest,
  type RpcResponse,
  textAt,
  textOf
} from "../RpcMessages.ts"
import { isModern, makeLegacyDialect } from "./LegacyDialect.ts"
import { KEEP_ALIVE_MS, type LegacyRequest, makeLegacyRequest, Outgoing, sinkOf } from "./LegacyRequest.ts"
import { type LegacyContext, makeLegacySessions, sessionGone } from "./LegacySessions.ts"

// The GET of a client of the legacy era: messages of the server that belong to no request, or the rest of a stream whose
// connection broke.

/** `Nothing`: there is no such stream, or it has no further event. Clients then stop asking for it. */
type Streamed = "Ended" | "Nothing"

/** While a call is open. Each try gives its node some seconds. */
const TRIES_MAX = 6
const NOT_ACCEPTABLE = 406

const makeLegacyStreams = Effect.gen(function* () {
  const streams = yield* McpStreams
  const listeners = yield* McpListeners
  const lost = yield* LostRequests
  const open = yield* OpenStreams

  const listening = ({ caller, door, session }: LegacyContext, from: string | undefined, sink: StreamSink) =>
    Effect.map(
      listeners.listen(session, from, sink, {
        own: door.listen && ((send) => door.listen!(caller, send)),
        isPassed: (message) => isPassed(door, message)
      }),
      (end): Streamed => (end === "NotOffered" ? "Nothing" : "Ended")
    )

  const resumed = Effect.fnUntraced(function* (
    { caller, session }: LegacyContext,
    lastEventId: string,
    sink: StreamSink
  ): Effect.fn.Return<Streamed, StoreUnavailable | RpcFault> {
    const position = parseEventId(lastEventId)
    if (position === undefined) return yield* invalidRequest("Last-Event-ID is not the id of an event of this service.")
    const resume = streams.resume(session.id, position, requestLabel(position.requestId), sink)
    for (let tries = 1; ; tries++) {
      const end = yield* resume
      if (end !== "Lost") return end === "Complete" ? "Nothing" : "Ended"
      const outcome = yield* lost.outcome(caller.ownerId, position)
      if (outcome._tag === "Open" && tries < TRIES_MAX) continue
      sink.begin()
      const response = lostResponse(position, outcome)
      if (response !== undefined) sink.write(FINAL_EVENT_ID, response)
      return "Ended"
    }
  })

  return Effect.fnUntraced(function* (context: LegacyContext): Effect.fn.Return<EncodedReply, HandlerError | RpcFault> {
    const { caller, input } = context
    const { clock, request, startEvents } = input
    if (startEvents === undefined) return yield* notAcceptable
    const send = startEvents(() => undefined)
    const sink = sinkOf(send)
    let isBegun = false
    const noting: StreamSink = {
      ...sink,
      begin: () => {
        isBegun = true
        sink.begin()
      }
    }
    const last = header(request, "last-event-id")
    const upstreamId = last === undefined ? undefined : parseListenEventId(last)
    const stream =
      last === FINAL_EVENT_ID
        ? Effect.succeed<Streamed>("Nothing")
        : last === undefined || upstreamId !== undefined
          ? listening(context, upstreamId, noting)
          : resumed(context, last, noting)
    const alive = Effect.repeat(
      Effect.sync(() => {
        if (isBegun) send({})
      }),
      Schedule.spaced(Duration.millis(KEEP_ALIVE_MS))
    )
    clock.pause()
    const end = yield* open
      .keep(
        caller.ownerId,
        Effect.raceFirst(stream, Effect.andThen(alive, Effect.never)),
        Effect.sync((): Streamed => {
          send({ retryMs: RECONNECT_AFTER_MS })
          return "Ended"
        })
      )
      .pipe(Effect.catchTag("TooManyStreams", limited))
    if (end === "Nothing") return yield* new MethodNotAllowed({ ...request, allow: ["POST", "DELETE", "OPTIONS"] })
    return { status: 200, headers: {}, body: "" }
  })
})

const notAcceptable = faultOf(
  INVALID_REQUEST,
  NOT_ACCEPTABLE
)("GET opens a stream: send the header `Accept: text/event-stream`.")

// Notifications of clients of the legacy era, and their responses to requests of the server: they go to the client's own
// session at the provider's server. Cancellations end here.

const BAD_GATEWAY = 502

const makeLegacyNotices = Effect.gen(function* () {
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
          PassThroughLimited: limited,
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

const failed = faultOf(INTERNAL_ERROR, BAD_GATEWAY)

// A batch of a client of 2025-03-26, the only version with batches. It has one connection and one clock. Its call of a tool
// runs last and alone, so that only the call decides whether the work goes on without the client, and nothing that was paid
// for waits for another request.

const BATCH_VERSION = "2025-03-26"
const AT_ONCE_MAX = 4

/** `requestId`: undefined for a batch. */
export type MakeOutgoing = (context: LegacyContext, requestId: string | undefined) => Outgoing

type Message = RpcBatch["messages"][number]
/** Undefined: none. */
type Answer = EncodedReply | undefined

const makeLegacyBatch = (
  request: LegacyRequest,
  tell: Effect.Success<typeof makeLegacyNotices>,
  outgoing: MakeOutgoing
) => {
  /** Runs a request in a fiber of its own, because a cancellation ends one request of the batch. */
  const requested = (context: LegacyContext, rpc: RpcRequest, out: Outgoing): Effect.Effect<Answer, HandlerError> =>
    Effect.withFiber(({ context: services }) =>
      Effect.callback<Answer, HandlerError>((resume) => {
        const { clock } = context.input
        let continues: (() => boolean) | undefined
        const registerDisconnect = (isContinued: () => boolean) => {
          continues = isContinued
          clock.registerDisconnect(isContinued)
        }
        const own = { ...context, input: { ...context.input, clock: { ...clock, registerDisconnect } } }
        const leave = Effect.suspend(() => (continues?.() === true ? Effect.void : Fiber.interrupt(fiber)))
        const fiber = Effect.runForkWith(services)(request(own, rpc, out, () => resume(Effect.as(leave, undefined))))
        fiber.addObserver(resume)
        return leave
      })
    )

  return Effect.fnUntraced(function* (
    context: LegacyContext,
    { messages }: RpcBatch
  ): Effect.fn.Return<EncodedReply, HandlerError | RpcFault> {
    if (context.session.version !== BATCH_VERSION) {
      return yield* invalidRequest(
        `Batches are part of protocol version ${BATCH_VERSION} only. Send one message per request.`
      )
    }
    const out = outgoing(context, undefined)
    const call = messages.find(isCall)
    const answered = (message: Message): Effect.Effect<Answer, HandlerError> => {
      if (message instanceof RpcFault) return Effect.succeed(faultReply(message))
      if (message._tag === "Request") return requested(context, message, out)
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
}

const notAlone = ({ id }: RpcRequest): RpcFault =>
  invalidRequest("Send calls of tools one at a time: a batch may have one. Nothing was charged.", undefined, id)

const isCall = (message: Message): message is RpcRequest =>
  !(message instanceof RpcFault) && message._tag === "Request" && message.method === "tools/call"

type Handled = Effect.Effect<EncodedReply, HandlerError | RpcFault>

const STREAM_ID_BYTES = 16
const LONG: ReadonlySet<string> = new Set(["tools/call", "tasks/result"])

export const makeLegacyDoor = Effect.fnUntraced(function* (dispatch: Dispatch) {
  const sessions = yield* McpSessions
  const streams = yield* McpStreams
  const entropy = yield* Entropy
  const deadlines = yield* makeDeadlines
  const dialect = yield* makeLegacyDialect
  const { find, open } = yield* makeLegacySessions(dialect)
  const request = yield* makeLegacyRequest(dispatch, dialect)
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
    dialect,
    sends: (sent, message) => !isModern(sent, message),
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
  } satisfies SessionClients
})

const DELETED: EncodedReply = { status: 204, headers: {}, body: "" }

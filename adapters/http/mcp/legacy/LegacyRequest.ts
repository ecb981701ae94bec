/**
 * Runs one request of a client of the legacy era. It ends by its response or by the client's cancellation. A connection that
 * breaks ends it only where the client could not come back for the response, and nothing was paid for.
 */
import { Effect } from "effect"
import { McpCancellations } from "../../../../domain/mcp/McpCancellations.ts"
import { McpSessions } from "../../../../domain/mcp/McpSessions.ts"
import type { OutgoingStream, StreamSink } from "../../../../domain/mcp/McpStreams.ts"
import type { Deadline, Deadlines } from "../../../../domain/shared/Deadlines.ts"
import type { UpstreamSession } from "../../../../domain/upstream/Protocol.ts"
import type { HandlerError } from "../../metering/CallProblems.ts"
import type { EncodedReply, RequestClock } from "../../pipeline/Route.ts"
import type { EventStarter, LastEvent, ServerSentEvent } from "../../pipeline/WebRequest.ts"
import type { Dispatch, DoorDialect, DoorRequest } from "../Door.ts"
import {
  faultReply,
  invalidRequest,
  lastMessage,
  methodNotFound,
  replyOf,
  resultAnswer,
  type RpcRequest
} from "../RpcMessages.ts"
import { type LegacyContext, sessionGone } from "./LegacySessions.ts"

// One POST of a client of the legacy era gets one response, or a stream, from the first message that comes before the
// response on. A request that takes longer gets a stream too, so that its client can reconnect for the response.

/** Most calls are shorter, and need no stream. */
const STREAM_AFTER_MS = 2_000
/** Shorter than what proxies and servers wait for. */
export const KEEP_ALIVE_MS = 15_000

export interface OutgoingSettings {
  readonly deadlines: Deadlines
  /** Undefined for a client that takes no stream. */
  readonly startEvents: EventStarter | undefined
  /** Undefined for a batch. */
  readonly requestId: string | undefined
  readonly openStream: (sink: StreamSink) => OutgoingStream
}

export class Outgoing {
  private readonly settings: OutgoingSettings
  private stream: OutgoingStream | undefined
  private sendEvent: ((event: ServerSentEvent) => void) | undefined
  private alive: Deadline | undefined
  private isEnded = false

  constructor(settings: OutgoingSettings) {
    this.settings = settings
  }

  get isStream(): boolean {
    return this.stream !== undefined
  }

  /** Opens a stream if the response takes long. */
  expectLong(): void {
    const { deadlines, startEvents } = this.settings
    if (startEvents !== undefined) this.alive = deadlines.start(STREAM_AFTER_MS, () => this.keepAlive())
  }

  /** A client that takes no stream does not get the message. */
  send(message: string): void {
    this.open()?.send(message)
  }

  /** The response, as a reply or as the last messages of the stream. Without one, the request was canceled. */
  end(reply: EncodedReply | undefined, responses: ReadonlyArray<string>): EncodedReply {
    this.isEnded = true
    this.alive?.end()
    for (const response of responses) this.stream?.send(response)
    this.stream?.end()
    return reply ?? CANCELED
  }

  /** The response is not known: the connection gets that of the service. */
  abandon(): void {
    this.alive?.end()
  }

  private open(): OutgoingStream | undefined {
    const { openStream, startEvents } = this.settings
    if (this.stream !== undefined || startEvents === undefined || this.isEnded) return this.stream
    this.sendEvent = startEvents(this.last)
    this.stream = openStream(sinkOf(this.sendEvent))
    return this.stream
  }

  private keepAlive(): void {
    this.open()
    this.sendEvent?.({})
    this.alive = this.settings.deadlines.start(KEEP_ALIVE_MS, () => this.keepAlive())
  }

  /** A response that did not come from the request itself, such as a time-out. */
  private readonly last: LastEvent = (answer) => {
    const { requestId } = this.settings
    const data = requestId === undefined ? undefined : lastMessage(requestId)(answer)?.data
    if (!this.isEnded && data !== undefined) this.end(undefined, [data])
    return undefined
  }
}

/** One connection, as the receiver of a stream. */
export const sinkOf = (sendEvent: (event: ServerSentEvent) => void): StreamSink => ({
  begin: () => sendEvent({}),
  write: (id, message) => sendEvent({ ...(id === undefined ? {} : { id }), data: message, required: true }),
  // The connection ends with the response.
  end: () => {}
})

/** A canceled request gets no response. */
const CANCELED: EncodedReply = { status: 200, headers: { "content-type": "text/event-stream" }, body: "" }

/** The provider's server keeps something for the session afterwards. */
const STATEFUL: ReadonlySet<string> = new Set(["resources/subscribe", "logging/setLevel"])
const UNKNOWN: ReadonlySet<string> = new Set(["server/discover", "subscriptions/listen"])

/** `onCanceled`: the client has canceled the request, and gets no response to it. */
export type LegacyRequest = (
  context: LegacyContext,
  rpc: RpcRequest,
  outgoing: Outgoing,
  onCanceled: () => void
) => Effect.Effect<EncodedReply, HandlerError>

export const makeLegacyRequest = Effect.fnUntraced(function* (dispatch: Dispatch, dialect: DoorDialect) {
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
      dialect,
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
    if (method === "ping") return Effect.succeed(replyOf(id, resultAnswer("{}")))
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

const rejected = (fault: Parameters<typeof faultReply>[0], id: string): EncodedReply => ({
  ...faultReply(fault, id),
  status: 200
})

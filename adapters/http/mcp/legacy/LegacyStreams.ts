/**
 * The GET of a client of the legacy era: messages of the server that belong to no request, or the rest of a stream whose
 * connection broke.
 */
import { Duration, Effect, Schedule } from "effect"
import { McpListeners } from "../../../../domain/mcp/McpListeners.ts"
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
import type { StoreUnavailable } from "../../../../domain/shared/StoreUnavailable.ts"
import { MethodNotAllowed } from "../../pipeline/Failures.ts"
import type { HandlerError } from "../../metering/CallProblems.ts"
import { OpenStreams, RECONNECT_AFTER_MS } from "../../pipeline/WebRequest.ts"
import type { EncodedReply } from "../../pipeline/Route.ts"
import { header } from "../../pipeline/WebRequest.ts"
import { isPassed } from "../Door.ts"
import { faultOf, invalidRequest, limited, type RpcFault } from "../RpcReply.ts"
import { KEEP_ALIVE_MS, sinkOf } from "./LegacyRequest.ts"
import type { LegacyContext } from "./LegacySessions.ts"
import { INVALID_REQUEST } from "../../../../domain/upstream/Protocol.ts"

/** `Nothing`: there is no such stream, or it has no further event. Clients then stop asking for it. */
type Streamed = "Ended" | "Nothing"

/** While a call is open. Each try gives its node some seconds. */
const TRIES_MAX = 6
const NOT_ACCEPTABLE = 406

export const makeLegacyStreams = Effect.gen(function* () {
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

/**
 * Streams of messages to MCP clients of the legacy era. A stream outlives its connection: the client reconnects with the id
 * of the last event that it received, at any node. The node that runs the request keeps the latest events in memory. It
 * stores them, sealed, only when a client asks another node for the stream.
 */
import { Clock, Context, DateTime, Duration, Effect, Layer, Option, Schedule } from "effect"
import { ChangeFeed, onEachChange } from "../shared/ChangeFeed.ts"
import { makeDeadlines } from "../shared/Deadlines.ts"
import { Sealer } from "../shared/Sealer.ts"
import type { StoreUnavailable } from "../shared/StoreUnavailable.ts"
import { eventId, type StreamPosition } from "./EventId.ts"
import { McpStreamStore, type StoredEvent } from "./McpStreamStore.ts"
import type { StreamEvent } from "./ReplayBuffer.ts"
import { ReplayMemory } from "./ReplayMemory.ts"
import {
  type OutgoingStream,
  type Resumption,
  ServerStream,
  type StreamRequest,
  type StreamSink
} from "./ServerStream.ts"

/** After the end of the stream. */
export const STREAM_KEPT = Duration.minutes(5)
/** For the node that runs the request to store the first event. */
const OWNER_WAIT = Duration.seconds(3)
/** For its next one: longer than a request may take. */
const EVENT_WAIT = Duration.minutes(3)
const READ_EVERY = Duration.millis(200)
const READ_MAX = 100
const STORE_RETRIES_MAX = 5
const STORE_RETRY_AFTER = Duration.millis(500)

export class McpStreams extends Context.Service<
  McpStreams,
  {
    open(request: StreamRequest, sink: StreamSink): OutgoingStream
    /** Ends with the stream, or when the client reconnects again. */
    resume(
      sessionId: string,
      position: StreamPosition,
      label: string,
      sink: StreamSink
    ): Effect.Effect<Resumption, StoreUnavailable>
  }
>()("agent-tool-billing/domain/mcp/McpStreams") {
  static readonly layer = Layer.effect(
    McpStreams,
    Effect.gen(function* () {
      const store = yield* McpStreamStore
      const sealer = yield* Sealer
      const feed = yield* ChangeFeed
      const clock = yield* Clock.Clock
      const deadlines = yield* makeDeadlines
      const run = Effect.runForkWith(yield* Effect.context<never>())
      const memory = new ReplayMemory()

      yield* onEachChange(feed, ({ id, topic }) => {
        if (topic !== "mcp_stream") return
        const [sessionId, streamId] = id.split(".")
        // The id of a stream is not enough: it must be one of the session that asks.
        const stream = streamId === undefined ? undefined : memory.find(streamId)
        if (stream?.request.sessionId === sessionId) stream?.moveToStore()
      })

      const sealed = ({ sessionId, streamId }: StreamRequest, { message, sequence }: StreamEvent): StoredEvent => ({
        sequence,
        sealedMessage:
          message === undefined ? undefined : sealer.seal(message, contextOf(sessionId, streamId, sequence))
      })

      const append = (request: StreamRequest, events: ReadonlyArray<StreamEvent>): Effect.Effect<void> =>
        Effect.flatMap(DateTime.now, (now) =>
          store.append(
            request.streamId,
            events.map((event) => sealed(request, event)),
            now
          )
        ).pipe(
          Effect.retry({ times: STORE_RETRIES_MAX, schedule: Schedule.spaced(STORE_RETRY_AFTER) }),
          Effect.catch(({ detail }) => Effect.logWarning("Events of an MCP stream could not be stored", detail))
        )

      const open = (request: StreamRequest, sink: StreamSink): OutgoingStream => {
        const stream = new ServerStream(request, (events, done) => {
          run(append(request, events)).addObserver(done)
        })
        memory.add(stream)
        stream.onGrowth = (chars) => memory.grew(stream, chars)
        stream.onEnd = () => {
          deadlines.start(Duration.toMillis(STREAM_KEPT), () => memory.remove(stream))
        }
        stream.send("")
        stream.attach(sink, 0)
        return stream
      }

      const resume = Effect.fn("McpStreams.resume")(function* (
        sessionId: string,
        { sequence, streamId }: StreamPosition,
        label: string,
        sink: StreamSink
      ) {
        const local = memory.find(streamId)
        if (local !== undefined) {
          return local.request.sessionId === sessionId ? yield* local.follow(sink, sequence + 1) : "Lost"
        }
        yield* feed.publish({ topic: "mcp_stream", id: `${sessionId}.${streamId}` })
        return yield* followStored({ sessionId, streamId, label }, sequence + 1, sink)
      })

      const followStored = Effect.fnUntraced(function* (
        { label, sessionId, streamId }: Pick<StreamRequest, "label" | "sessionId" | "streamId">,
        from: number,
        sink: StreamSink
      ): Effect.fn.Return<Resumption, StoreUnavailable> {
        let next = 0
        let begun = false
        let waitedMs = 0
        for (;;) {
          const events = yield* store.read(streamId, next, READ_MAX)
          for (const { sealedMessage, sequence } of events) {
            if (sequence >= from && sequence !== Math.max(next, from)) return "Lost"
            next = sequence + 1
            if (sequence < from) continue
            if (sealedMessage === undefined) {
              if (!begun) return "Complete"
              sink.end()
              return "Resumed"
            }
            const message = sealer.open(sealedMessage, contextOf(sessionId, streamId, sequence))
            if (Option.isNone(message)) return "Lost"
            if (!begun) sink.begin()
            begun = true
            sink.write(eventId(streamId, sequence, label), message.value)
          }
          if (events.length === READ_MAX) continue
          waitedMs = events.length > 0 ? 0 : waitedMs + Duration.toMillis(READ_EVERY)
          if (waitedMs > Duration.toMillis(next === 0 ? OWNER_WAIT : EVENT_WAIT)) return "Lost"
          // The stream is known, and its next event is awaited.
          if (!begun && next > 0) {
            begun = true
            sink.begin()
          }
          yield* clock.sleep(READ_EVERY)
        }
      })

      return McpStreams.of({ open, resume })
    })
  )
}

/** Another session cannot open the events. */
const contextOf = (sessionId: string, streamId: string, sequence: number): string =>
  `mcp stream ${sessionId} ${streamId} ${sequence}`

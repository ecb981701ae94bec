/**
 * Streams of messages to MCP clients in sessions. A stream outlives its connection: the client reconnects with the id
 * of the last event that it received, at any node. The node that runs the request keeps the latest events in memory. It
 * stores them, sealed, only when a client asks another node for the stream.
 */
import { Clock, Context, DateTime, Duration, Effect, Layer, Option, Schedule } from "effect"
import { CallStore, type StoredOutcome } from "../metering/CallStore.ts"
import { ChangeFeed, onEachChange } from "../shared/ChangeFeed.ts"
import { Sealer } from "../shared/Cryptography.ts"
import { makeDeadlines } from "../shared/Deadlines.ts"
import { type ConsumerId, isIssuedReceiptId } from "../shared/Ids.ts"
import { formatPrice, type Microcents } from "../shared/Microcents.ts"
import type { StoreUnavailable } from "../shared/StoreUnavailable.ts"
import { BILLING_META, INTERNAL_ERROR } from "../upstream/Protocol.ts"
import { McpStreamStore, type StoredEvent } from "./McpStores.ts"

// Ids of events. Each names its stream and its place in it, and for a stream of one request the id of the request, so that
// a node that does not know the stream can still answer the request.

/** The place of an event, as its id says. */
export interface StreamPosition {
  readonly streamId: string
  readonly sequence: number
  /** The JSON text of the request's id; undefined for a batch, and for a long id. */
  readonly requestId: string | undefined
}

/** Longer ids of requests are not part of the event's id. */
const REQUEST_ID_CHARS_MAX = 100
export const EVENT_ID_CHARS_MAX = 1_400

/** The id after the last event of a stream that cannot be resumed. */
export const FINAL_EVENT_ID = "end"

/** The part of a stream's event ids that is equal in all of them. */
export const requestLabel = (requestId: string | undefined): string =>
  requestId === undefined || requestId.length > REQUEST_ID_CHARS_MAX ? "" : encodeURIComponent(requestId.toWellFormed())

export const eventId = (streamId: string, sequence: number, label: string): string => `${streamId}.${sequence}.${label}`

export const parseEventId = (text: string): StreamPosition | undefined => {
  const found = text.length > EVENT_ID_CHARS_MAX ? null : /^([0-9a-f]{32})\.(\d{1,9})\.([\x21-\x7e]*)$/u.exec(text)
  if (found === null) return undefined
  const [, streamId, sequence, label] = found
  const requestId = decoded(label!)
  if (requestId === undefined) return undefined
  return { streamId: streamId!, sequence: Number(sequence), requestId: requestId === "" ? undefined : requestId }
}

/** Messages that belong to no request have the server's own ids of its events. */
export const listenEventId = (upstreamId: string): string => `listen.${encodeURIComponent(upstreamId.toWellFormed())}`

export const parseListenEventId = (text: string): string | undefined =>
  text.length <= EVENT_ID_CHARS_MAX && text.startsWith("listen.") ? decoded(text.slice("listen.".length)) : undefined

const decoded = (text: string): string | undefined => {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

/** 1 MiB of ASCII. */
export const REPLAY_CHARS_MAX = 1_048_576

export interface StreamEvent {
  readonly sequence: number
  /** It is empty in the first event, which gives the client an id to reconnect with; undefined after the last one. */
  readonly message: string | undefined
}

/** The latest events of one stream, for a client that reconnects. Beyond the limit the oldest are dropped. */
export class ReplayBuffer {
  chars = 0
  private events: Array<StreamEvent> = []
  private next = 0
  private isEnded = false

  /** Undefined after the end of the stream. */
  add(message: string | undefined): StreamEvent | undefined {
    if (this.isEnded) return undefined
    const event: StreamEvent = { sequence: this.next++, message }
    this.isEnded = message === undefined
    this.events.push(event)
    this.chars += sizeOf(event)
    while (this.chars > REPLAY_CHARS_MAX && this.events.length > 0) this.chars -= sizeOf(this.events.shift()!)
    return event
  }

  /** The oldest event that was not dropped. */
  get first(): number {
    return this.next - this.events.length
  }

  /** The events from this place on; undefined if one of them was dropped or does not exist yet. */
  from(sequence: number): ReadonlyArray<StreamEvent> | undefined {
    return sequence < this.first || sequence > this.next ? undefined : this.events.slice(sequence - this.first)
  }

  clear(): void {
    this.events = []
    this.chars = 0
  }
}

/** An event without text needs memory too. */
const EVENT_CHARS = 100

const sizeOf = ({ message }: StreamEvent): number => EVENT_CHARS + (message?.length ?? 0)

/** One connection of a client. */
export interface StreamSink {
  /** Called once, before the first event. */
  begin(): void
  /** `id`: what the client reconnects with; undefined where it cannot. */
  write(id: string | undefined, message: string): void
  end(): void
}

/** The messages of a request to its client, before and with its response. */
export interface OutgoingStream {
  readonly id: string
  send(message: string): void
  end(): void
}

/** The stream that answers one request of a session. */
export interface StreamRequest {
  readonly sessionId: string
  readonly consumerId: ConsumerId
  /** 32 hex digits. */
  readonly streamId: string
  /** The label of all its events: `requestLabel`. */
  readonly label: string
}

/**
 * `Resumed`: the sink received the rest of the stream. `Complete`: the client had received all of it. `Lost`: the events
 * are gone, or were never of this session.
 */
export type Resumption = "Resumed" | "Complete" | "Lost"

/** Stores events for other nodes, and calls back. */
type Append = (events: ReadonlyArray<StreamEvent>, done: () => void) => void

/** One stream on the node that runs its request: its latest events, and the connection that receives them. */
export class ServerStream implements OutgoingStream {
  readonly buffer = new ReplayBuffer()
  readonly request: StreamRequest
  onGrowth: (chars: number) => void = () => {}
  onEnd: () => void = () => {}
  private readonly append: Append
  private sink: StreamSink | undefined
  private onDetached: (() => void) | undefined
  private isStored = false
  private isStoring = false
  private unstored: ReadonlyArray<StreamEvent> = []

  constructor(request: StreamRequest, append: Append) {
    this.request = request
    this.append = append
  }

  get id(): string {
    return this.request.streamId
  }

  send(message: string): void {
    this.add(message)
  }

  end(): void {
    if (!this.add(undefined)) return
    this.detach()
    this.onEnd()
  }

  /** An earlier connection ends. False where the events from there on are gone. */
  attach(sink: StreamSink, from: number): boolean {
    const events = this.buffer.from(from)
    if (events === undefined) return false
    this.detach()
    this.sink = sink
    sink.begin()
    for (const event of events) this.deliver(event)
    return true
  }

  /** Follows until the stream ends, or the client reconnects again. */
  follow(sink: StreamSink, from: number): Effect.Effect<Resumption> {
    return Effect.callback<Resumption>((resume) => {
      const events = this.buffer.from(from)
      if (events === undefined) return resume(Effect.succeed("Lost"))
      const [next] = events
      if (next !== undefined && next.message === undefined) return resume(Effect.succeed("Complete"))
      this.attach(sink, from)
      if (this.sink !== sink) return resume(Effect.succeed("Resumed"))
      this.onDetached = () => resume(Effect.succeed("Resumed"))
      return Effect.sync(() => {
        if (this.sink === sink) this.detach()
      })
    })
  }

  /** Stores the events for a client that asks another node for the stream. */
  moveToStore(): void {
    if (this.isStored) return
    this.isStored = true
    this.unstored = this.buffer.from(this.buffer.first) ?? []
    this.store()
    this.detach()
  }

  private add(message: string | undefined): boolean {
    const before = this.buffer.chars
    const event = this.buffer.add(message)
    if (event === undefined) return false
    this.onGrowth(this.buffer.chars - before)
    this.deliver(event)
    if (this.isStored) {
      this.unstored = [...this.unstored, event]
      this.store()
    }
    return true
  }

  /** Stores in order: one write at a time. */
  private store(): void {
    if (this.isStoring || this.unstored.length === 0) return
    const events = this.unstored
    this.unstored = []
    this.isStoring = true
    this.append(events, () => {
      this.isStoring = false
      this.store()
    })
  }

  private deliver({ message, sequence }: StreamEvent): void {
    if (message === undefined) return this.detach()
    this.sink?.write(eventId(this.id, sequence, this.request.label), message)
  }

  private detach(): void {
    const { onDetached, sink } = this
    this.sink = undefined
    this.onDetached = undefined
    sink?.end()
    onDetached?.()
  }
}

export const REPLAY_CHARS_PER_ACCOUNT_MAX = 16 * 1_048_576
export const REPLAY_CHARS_PER_NODE_MAX = 128 * 1_048_576

interface Account {
  readonly streams: Set<ServerStream>
  chars: number
}

/**
 * The streams of a node, and how much memory their events take. Beyond a limit the oldest streams are forgotten: they
 * cannot be resumed any more, but still reach a client that is connected.
 */
export class ReplayMemory {
  /** Oldest first. */
  private readonly streams = new Map<string, ServerStream>()
  private readonly accounts = new Map<ConsumerId, Account>()
  private chars = 0

  find(streamId: string): ServerStream | undefined {
    return this.streams.get(streamId)
  }

  add(stream: ServerStream): void {
    const { consumerId, streamId } = stream.request
    this.streams.set(streamId, stream)
    const account = this.accounts.get(consumerId) ?? { streams: new Set<ServerStream>(), chars: 0 }
    this.accounts.set(consumerId, account)
    account.streams.add(stream)
  }

  grew(stream: ServerStream, chars: number): void {
    const account = this.accounts.get(stream.request.consumerId)
    if (account === undefined || !account.streams.has(stream)) return stream.buffer.clear()
    account.chars += chars
    this.chars += chars
    for (const oldest of account.streams) {
      if (account.chars <= REPLAY_CHARS_PER_ACCOUNT_MAX) break
      this.remove(oldest)
    }
    for (const oldest of this.streams.values()) {
      if (this.chars <= REPLAY_CHARS_PER_NODE_MAX) break
      this.remove(oldest)
    }
  }

  remove(stream: ServerStream): void {
    const { consumerId, streamId } = stream.request
    const account = this.accounts.get(consumerId)
    if (account === undefined || !account.streams.delete(stream)) return
    this.streams.delete(streamId)
    account.chars -= stream.buffer.chars
    this.chars -= stream.buffer.chars
    stream.buffer.clear()
    if (account.streams.size === 0) this.accounts.delete(consumerId)
  }
}

/** The time that events are kept after the end of the stream. */
export const STREAM_KEPT = Duration.minutes(5)
/** The time that the node that runs the request has to store the first event. */
const OWNER_WAIT = Duration.seconds(3)
/** The time for its next one: longer than a request may take. */
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

/**
 * Requests whose stream cannot be resumed: what their client gets instead of the response. A call is settled in any case,
 * so its client learns its receipt and what it costs.
 */
export class LostRequests extends Context.Service<
  LostRequests,
  {
    /** `Unknown` for a request that is not a call. A call that is open may still be running, at a node that is busy. */
    outcome(consumerId: ConsumerId, position: StreamPosition): Effect.Effect<StoredOutcome, StoreUnavailable>
  }
>()("agent-tool-billing/domain/mcp/LostRequests") {
  static readonly layer = Layer.effect(
    LostRequests,
    Effect.map(CallStore, (calls) =>
      LostRequests.of({
        outcome: (consumerId, position) => {
          const receiptId = receiptIdOf(position)
          return isIssuedReceiptId(receiptId) ? calls.outcome(consumerId, receiptId) : Effect.succeed(UNKNOWN)
        }
      })
    )
  )
}

const UNKNOWN: StoredOutcome = { _tag: "Unknown" }

/** The stream of a call has the id of the call. */
const receiptIdOf = ({ streamId }: StreamPosition): string => `rcpt_${streamId}`

/** The JSON-RPC response; undefined where the id of the request is not known. */
export const lostResponse = (position: StreamPosition, outcome: StoredOutcome): string | undefined => {
  const { requestId } = position
  if (requestId === undefined) return undefined
  const member = outcome._tag === "Unknown" ? LOST : lostCall(receiptIdOf(position), outcome)
  return `{"jsonrpc":"2.0","id":${requestId},${member}}`
}

const LOST = `"error":${JSON.stringify({
  code: INTERNAL_ERROR,
  message: "The connection broke, and the response to this request is no longer available. Send the request again."
})}`

/** A result, not an error: a model can act on it. */
const lostCall = (receiptId: string, outcome: Exclude<StoredOutcome, { readonly _tag: "Unknown" }>): string => {
  const cost = outcome._tag === "Closed" ? outcome.cost : undefined
  const text = `The connection broke, and the result of this call is no longer available. ${costText(cost)} Receipt: ${receiptId}. To call the tool again is a new call.`
  return `"result":${JSON.stringify({
    content: [{ type: "text", text }],
    isError: true,
    _meta: { [BILLING_META]: { receipt_id: receiptId, cost_microcents: cost === undefined ? null : Number(cost) } }
  })}`
}

const costText = (cost: Microcents | undefined): string => {
  if (cost === undefined) return "It is not settled yet."
  return cost === 0n ? "Nothing was charged." : `It costs ${formatPrice(cost)}.`
}

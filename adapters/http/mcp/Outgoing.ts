/**
 * What one POST of a client of the legacy era sends back: one response, or a stream, from the first message that comes before
 * the response on. A request that takes longer gets a stream too, so that its client can reconnect for the response.
 */
import type { OutgoingStream, StreamSink } from "../../../domain/mcp/McpStreams.ts"
import type { Deadline, Deadlines } from "../../../domain/shared/Deadlines.ts"
import type { EncodedReply } from "../pipeline/Route.ts"
import type { EventStarter, LastEvent, ServerSentEvent } from "../pipeline/WebRequest.ts"
import { lastMessage } from "./RpcReply.ts"

/** Most calls are shorter, and need no stream. */
export const STREAM_AFTER_MS = 2_000
/** Shorter than what proxies and servers wait for. */
export const KEEP_ALIVE_MS = 15_000

export interface OutgoingSettings {
  readonly deadlines: Deadlines
  /** Undefined for a client that takes no stream. */
  readonly startEvents: EventStarter | undefined
  /** Of the request; undefined for a batch. */
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

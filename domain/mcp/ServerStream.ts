/**
 * One stream on the node that runs its request: its latest events, and the connection that receives them.
 */
import { Effect } from "effect"
import type { ConsumerId } from "../shared/Ids.ts"
import { eventId } from "./EventId.ts"
import { ReplayBuffer, type StreamEvent } from "./ReplayBuffer.ts"

/** One connection of a client. */
export interface StreamSink {
  /** Called once, before the first event. */
  begin(): void
  /** `id`: what the client reconnects with; undefined where it cannot. */
  write(id: string | undefined, message: string): void
  end(): void
}

/** What a request sends to its client before and with its response. */
export interface OutgoingStream {
  readonly id: string
  send(message: string): void
  end(): void
}

export interface StreamRequest {
  readonly sessionId: string
  readonly consumerId: ConsumerId
  /** 32 hex digits. */
  readonly streamId: string
  /** Of all its events: `requestLabel`. */
  readonly label: string
}

/**
 * `Resumed`: the sink received the rest of the stream. `Complete`: the client had received all of it. `Lost`: the events
 * are gone, or were never of this session.
 */
export type Resumption = "Resumed" | "Complete" | "Lost"

/** Stores events for other nodes, and calls back. */
type Append = (events: ReadonlyArray<StreamEvent>, done: () => void) => void

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

  /** Until the stream ends, or the client reconnects again. */
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

  /** For a client that asks another node for the stream. */
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

  /** In order: one write at a time. */
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

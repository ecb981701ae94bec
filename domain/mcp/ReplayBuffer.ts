/**
 * The latest events of one stream, for a client that reconnects. Beyond the limit the oldest are dropped.
 */

/** 1 MiB of ASCII. */
export const REPLAY_CHARS_MAX = 1_048_576

export interface StreamEvent {
  readonly sequence: number
  /** Empty in the first event, which gives the client an id to reconnect with; undefined after the last message. */
  readonly message: string | undefined
}

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

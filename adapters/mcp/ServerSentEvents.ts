/**
 * Parses an event stream incrementally, by the WHATWG rules: CR, LF or CRLF, several `data` lines, comments, `id`,
 * `retry`, a byte order mark. Work is linear in the bytes, however they are chunked. The caller limits their number.
 */
import { StringDecoder } from "node:string_decoder"

export interface ServerSentEvent {
  readonly event: string
  readonly data: string
}

export class ServerSentEvents {
  /** Of the last event that had one, for a reconnection. */
  lastEventId: string | undefined = undefined
  /** The wait before a reconnection that the server requested. */
  retryMs: number | undefined = undefined

  /** The own id of the event that is delivered. */
  eventId: string | undefined = undefined

  private readonly onEvent: (event: ServerSentEvent) => void
  private readonly decoder = new StringDecoder("utf8")
  private started = false
  private afterCr = false
  private tail: Array<string> = []
  private event = ""
  private data: Array<string> = []
  private id: string | undefined = undefined

  constructor(onEvent: (event: ServerSentEvent) => void) {
    this.onEvent = onEvent
  }

  push(chunk: Buffer): void {
    let text = this.decoder.write(chunk)
    if (text === "") return
    if (!this.started) {
      this.started = true
      if (text.charCodeAt(0) === 0xfeff) text = text.slice(1)
    }
    let start = this.afterCr && text.charCodeAt(0) === LF ? 1 : 0
    this.afterCr = false
    let cr = text.indexOf("\r", start)
    let lf = text.indexOf("\n", start)
    while (cr !== -1 || lf !== -1) {
      const end = cr !== -1 && (lf === -1 || cr < lf) ? cr : lf
      this.line(text.slice(start, end))
      start = end + 1
      if (end === cr) {
        if (start === text.length) this.afterCr = true
        else if (lf === start) start++
      }
      if (cr !== -1 && cr < start) cr = text.indexOf("\r", start)
      if (lf !== -1 && lf < start) lf = text.indexOf("\n", start)
    }
    if (start < text.length) this.tail.push(text.slice(start))
  }

  private line(rest: string): void {
    const line = this.tail.length === 0 ? rest : this.tail.join("") + rest
    if (this.tail.length > 0) this.tail = []
    if (line === "") return this.dispatch()
    const colon = line.indexOf(":")
    if (colon === 0) return
    const field = colon === -1 ? line : line.slice(0, colon)
    const value = colon === -1 ? "" : line.slice(line.charCodeAt(colon + 1) === SPACE ? colon + 2 : colon + 1)
    if (field === "data") this.data.push(value)
    else if (field === "event") this.event = value
    else if (field === "id" && !value.includes("\0")) this.id = value
    else if (field === "retry" && /^\d{1,9}$/u.test(value)) this.retryMs = Number(value)
  }

  private dispatch(): void {
    if (this.id !== undefined) this.lastEventId = this.id === "" ? undefined : this.id
    const { data, event } = this
    this.eventId = this.id
    this.event = ""
    this.id = undefined
    if (data.length === 0) return
    this.data = []
    this.onEvent({ event, data: data.length === 1 ? data[0]! : data.join("\n") })
  }
}

const LF = 10
const SPACE = 32

/** The two content types of MCP responses. */
export const isJson = (type: string): boolean =>
  type === "application/json" || /^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/iu.test(type)
export const isEventStream = (type: string): boolean => /^text\/event-stream\s*(?:;|$)/iu.test(type)

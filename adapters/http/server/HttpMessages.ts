/**
 * Reads the bodies of requests and sends responses. If the request's body is incomplete, the connection is closed after
 * the response, but not at once: a client that is still sending would see a broken connection instead of the response.
 * Its further bytes are read and dropped, up to a number of bytes and for a limited time.
 */
import { Effect } from "effect"
import type { IncomingMessage, ServerResponse } from "node:http"
import { ownTurn } from "../../../domain/shared/OwnTurn.ts"
import { PayloadTooLarge } from "../pipeline/Failures.ts"
import { EVENT_STREAM, type LastEvent, type ServerSentEvent, type WebResponse } from "../pipeline/WebRequest.ts"

/** Dropped after a response. Node's `fetch` receives the response to any body up to this size. */
export const DROPPED_BYTES_MAX = 32 * 1024 * 1024
const DROPPING_MS_MAX = 10_000
/** A client that sends nothing for this long has read the response, or waits for the end of the connection. */
const DROPPING_SILENCE_MS_MAX = 1_000

/** Total of large responses that clients have not read. Beyond it, the connection of the oldest is closed. */
const UNREAD_RESPONSES_BYTES_MAX = 64 * 1024 * 1024
const LARGE_BYTES = 65_536

/** One per server. */
export class UnreadResponses {
  private readonly waiting = new Map<ServerResponse, number>()
  private bytes = 0

  add(outgoing: ServerResponse, bytes: number): void {
    if (bytes <= LARGE_BYTES) return
    this.waiting.set(outgoing, bytes)
    this.bytes += bytes
    outgoing.once("close", () => this.remove(outgoing))
    for (const oldest of this.waiting.keys()) {
      if (this.bytes <= UNREAD_RESPONSES_BYTES_MAX || oldest === outgoing) return
      this.remove(oldest)
      oldest.destroy()
    }
  }

  private remove(outgoing: ServerResponse): void {
    this.bytes -= this.waiting.get(outgoing) ?? 0
    this.waiting.delete(outgoing)
  }
}

/** `isLast`: the server stops, and serves nothing more on this connection. */
export const send = (
  isLast: boolean,
  unreadResponses: UnreadResponses,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  answer: WebResponse
): void => {
  if (outgoing.destroyed || outgoing.headersSent) return
  const length = typeof answer.body === "string" ? Buffer.byteLength(answer.body) : answer.body.length
  // An unread body would be parsed as the next request on this connection.
  const unread = !incoming.complete && hasBody(incoming)
  outgoing.writeHead(answer.status, {
    ...answer.headers,
    ...(answer.status === 204 ? {} : { "content-length": length }),
    // `close` makes a client send its next request elsewhere during shutdown; a busy connection would never become idle.
    ...(unread || isLast ? { connection: "close" } : {})
  })
  unreadResponses.add(outgoing, length)
  if (unread) return sendDuringUpload(incoming, outgoing, answer)
  if (incoming.method === "HEAD" || answer.status === 204) outgoing.end()
  // Equal numbers of bytes and characters mean ASCII, which `latin1` writes faster.
  else if (typeof answer.body === "string") outgoing.end(answer.body, length === answer.body.length ? "latin1" : "utf8")
  else outgoing.end(answer.body)
}

/** The content length completes the response; ending it would close the connection. */
const sendDuringUpload = (incoming: IncomingMessage, outgoing: ServerResponse, { body, status }: WebResponse): void => {
  if (incoming.method === "HEAD" || status === 204 || body.length === 0) outgoing.flushHeaders()
  else outgoing.write(body)
  let droppedBytes = 0
  const end = () => {
    clearTimeout(time)
    clearTimeout(silence)
    incoming.off("data", onData).off("end", end).off("close", end)
    if (!outgoing.writableEnded) outgoing.end()
  }
  const onData = (chunk: Buffer) => {
    silence.refresh()
    droppedBytes += chunk.length
    if (droppedBytes > DROPPED_BYTES_MAX) end()
  }
  const time = setTimeout(end, DROPPING_MS_MAX)
  const silence = setTimeout(end, DROPPING_SILENCE_MS_MAX)
  incoming.on("data", onData).on("end", end).on("close", end)
  incoming.resume()
}

/** The most responses in one batch. Larger batches delay the first responses of a burst, and gain nothing. */
const RESPONSES_TOGETHER_MAX = 16

/**
 * Sends responses in batches, usually once per turn of the event loop. A separate write wakes the receiving process or the
 * network stack each time; later writes of the same turn find it awake. Measured with 64 callers in memory: a quarter more calls.
 */
export const makeResponseBatches = (): ((send: () => void) => void) => {
  let waiting: Array<() => void> = []
  const flush = () => {
    const batch = waiting
    waiting = []
    for (const send of batch) send()
  }
  return (send) => {
    const together = waiting.push(send)
    if (together === RESPONSES_TOGETHER_MAX) flush()
    else if (together === 1) setImmediate(flush)
  }
}

export const readBody = (incoming: IncomingMessage, bytesMax: number): Effect.Effect<Uint8Array, PayloadTooLarge> =>
  Effect.flatMap(readChunks(incoming, bytesMax), (chunks) =>
    chunks.length === 1 ? Effect.succeed(chunks[0]!) : Effect.map(ownTurn, () => Buffer.concat(chunks))
  )

const readChunks = (
  incoming: IncomingMessage,
  bytesMax: number
): Effect.Effect<ReadonlyArray<Buffer>, PayloadTooLarge> =>
  Effect.callback((resume) => {
    if (Number(incoming.headers["content-length"] ?? 0) > bytesMax) {
      return resume(Effect.fail(new PayloadTooLarge({ bytesMax })))
    }
    const chunks: Array<Buffer> = []
    let byteCount = 0
    const onData = (chunk: Buffer) => {
      byteCount += chunk.length
      if (byteCount <= bytesMax) return void chunks.push(chunk)
      stop()
      incoming.pause()
      resume(Effect.fail(new PayloadTooLarge({ bytesMax })))
    }
    // No event follows the end: removing the listeners would only cost time.
    const onEnd = () => {
      resume(Effect.succeed(chunks))
    }
    const onGone = () => {
      stop()
      resume(Effect.interrupt)
    }
    const stop = () => {
      incoming.off("data", onData).off("end", onEnd).off("error", onGone).off("aborted", onGone)
    }
    incoming.on("data", onData).on("end", onEnd).on("error", onGone).on("aborted", onGone)
    return Effect.sync(stop)
  })

const hasBody = (incoming: IncomingMessage): boolean =>
  incoming.headers["transfer-encoding"] !== undefined || Number(incoming.headers["content-length"] ?? 0) > 0

// Server-sent events before a response, which is the last event of their stream. A client that does not read costs bounded
// memory: events are dropped, or, where none may be lost, its connection is closed.

/** With more unread bytes than this, events that are not required are dropped. */
const UNREAD_BYTES_MAX = 65_536
/** With more unread bytes than this, a required event closes the connection. */
export const REQUIRED_UNREAD_BYTES_MAX = 1024 * 1024

export const isStreaming = (outgoing: ServerResponse): boolean =>
  outgoing.headersSent && outgoing.getHeader("content-type") === EVENT_STREAM

/** The headers count with the first event. */
export const writeEvent = (
  outgoing: ServerResponse,
  headers: Readonly<Record<string, string>>,
  event: ServerSentEvent
): void => {
  const text = written(event)
  if (outgoing.destroyed || outgoing.writableEnded) return
  const standing = standingOf(event, outgoing.writableLength, text.length)
  if (standing === "dropped") return
  if (standing === "overflow") return void outgoing.destroy()
  if (!outgoing.headersSent) {
    for (const [name, value] of Object.entries(streamHeaders(headers))) outgoing.setHeader(name, value)
    outgoing.writeHead(200)
  }
  outgoing.write(text)
}

/** Decides about an event while the client has not read so many bytes. A required one may be of any size. */
export const standingOf = (
  { required }: ServerSentEvent,
  unreadBytes: number,
  bytes: number
): "sent" | "dropped" | "overflow" => {
  if (required === true) return unreadBytes > REQUIRED_UNREAD_BYTES_MAX ? "overflow" : "sent"
  return unreadBytes + bytes > UNREAD_BYTES_MAX ? "dropped" : "sent"
}

export const endStream = (
  unreadResponses: UnreadResponses,
  outgoing: ServerResponse,
  answer: WebResponse,
  last: LastEvent = lastEvent
): void => {
  if (outgoing.destroyed) return
  const event = last(answer)
  if (event === undefined) return void outgoing.end()
  const text = written(event)
  unreadResponses.add(outgoing, text.length)
  outgoing.end(text)
}

/** Asks proxies not to buffer the response. */
export const streamHeaders = (headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> => ({
  ...headers,
  "x-accel-buffering": "no"
})

export const lastEvent: LastEvent = ({ body, status }) => ({
  event: status < 400 ? "result" : "problem",
  data: typeof body === "string" ? body : new TextDecoder().decode(body)
})

/** In JSON, line breaks occur only between tokens. */
export const written = ({ data, event, id, retryMs }: ServerSentEvent): string => {
  const fields =
    (event === undefined ? "" : `event: ${event}\n`) +
    (id === undefined ? "" : `id: ${id}\n`) +
    (retryMs === undefined ? "" : `retry: ${retryMs}\n`) +
    (data === undefined ? "" : `data: ${data.replaceAll(/\r\n|\r|\n/gu, "\ndata: ")}\n`)
  return fields === "" ? ":\n\n" : `${fields}\n`
}

/**
 * Server-sent events before a response, which is the last event of their stream. A client that does not read costs bounded
 * memory: events are dropped, or, where none may be lost, its connection is closed.
 */
import type { ServerResponse } from "node:http"
import { EVENT_STREAM, type LastEvent, type ServerSentEvent, type WebResponse } from "../pipeline/WebRequest.ts"
import type { UnreadResponses } from "./HttpMessages.ts"

/** With more unread bytes than this, events that are not required are dropped. */
export const UNREAD_BYTES_MAX = 65_536
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

/** What becomes of an event while the client has not read so many bytes. A required one may be of any size. */
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

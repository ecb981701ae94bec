/**
 * A response as server-sent events: progress events first, then the response as the last event, `result` or `problem`.
 */
import type { ServerResponse } from "node:http"
import { unreadResponses } from "./HttpMessages.ts"
import { EVENT_STREAM, type ServerSentEvent, type WebResponse } from "../pipeline/WebRequest.ts"

/** With more unread bytes than this, progress events of a client are dropped. */
export const UNREAD_BYTES_MAX = 65_536

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
  if (outgoing.writableLength + text.length > UNREAD_BYTES_MAX) return
  if (!outgoing.headersSent) {
    for (const [name, value] of Object.entries(streamHeaders(headers))) outgoing.setHeader(name, value)
    outgoing.writeHead(200)
  }
  outgoing.write(text)
}

export const endStream = (outgoing: ServerResponse, answer: WebResponse): void => {
  if (outgoing.destroyed) return
  const last = written(lastEvent(answer))
  unreadResponses.add(outgoing, last.length)
  outgoing.end(last)
}

/** Asks proxies not to buffer the response. */
export const streamHeaders = (headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> => ({
  ...headers,
  "x-accel-buffering": "no"
})

export const lastEvent = ({ body, status }: WebResponse): ServerSentEvent => ({
  event: status < 400 ? "result" : "problem",
  data: typeof body === "string" ? body : new TextDecoder().decode(body)
})

/** In JSON, line breaks occur only between tokens. */
export const written = ({ data, event }: ServerSentEvent): string =>
  `event: ${event}\ndata: ${data.replaceAll(/\r\n|\r|\n/gu, "\ndata: ")}\n\n`

/**
 * Events before a response, for a client that accepts a stream on a server that can send one.
 */
import {
  addHeaders,
  EVENT_STREAM,
  header,
  type LastEvent,
  type ServerSentEvent,
  type WebRequest
} from "./WebRequest.ts"

/** Progress events per request. Later ones are dropped. */
const EVENTS_MAX = 1_000

/** Sends events; `last` writes the response as the last one. */
export type EventStarter = (last?: LastEvent) => (event: ServerSentEvent) => void

/** The stream has the headers that the response would have at the time of its first event. */
export const eventStarter = (
  request: WebRequest,
  requestId: string,
  headers: () => Readonly<Record<string, string>>
): EventStarter | undefined => {
  const { sendEvent } = request
  if (sendEvent === undefined || !takesEvents(request)) return undefined
  return (last) => {
    let sentHeaders: Readonly<Record<string, string>> | undefined
    return (event) => {
      const begins = { "cache-control": "no-store", "content-type": EVENT_STREAM }
      sentHeaders ??= addHeaders({ status: 200, body: "", headers: begins }, requestId, headers()).headers
      sendEvent(sentHeaders, event, last)
    }
  }
}

export const progressSender = (start: EventStarter | undefined): ((event: ServerSentEvent) => void) | undefined => {
  if (start === undefined) return undefined
  const send = start()
  let sent = 0
  return (event) => {
    if (++sent <= EVENTS_MAX) send(event)
  }
}

export const takesEvents = (request: WebRequest): boolean => {
  const accept = header(request, "accept")
  return accept === MCP_ACCEPT || (accept !== undefined && accept.split(",").some(isEvents))
}

/** As the SDKs of MCP write it. */
const MCP_ACCEPT = "application/json, text/event-stream"

/** A weight of zero means not accepted (RFC 9110, 12.4.2). */
const isEvents = (taken: string): boolean =>
  /^\s*text\/event-stream\s*(?:;|$)/iu.test(taken) && !/;\s*q=0(?:\.0*)?\s*(?:;|$)/iu.test(taken)

/**
 * What a client is told before its answer: it asks for that by the type of a stream, and its server must be able to.
 */
import { dress } from "./Conventions.ts"
import { EVENT_STREAM, header, type ServerSentEvent, type WebRequest } from "./WebRequest.ts"

/** More than these of one request nobody follows. */
const TOLD_MAX = 1_000

/** With the headers that the answer would have had, as they are when the first event begins the stream. */
export const teller = (
  request: WebRequest,
  requestId: string,
  headers: () => Readonly<Record<string, string>>
): ((event: ServerSentEvent) => void) | undefined => {
  const { tell } = request
  if (tell === undefined || !takesEvents(request)) return undefined
  let told = 0
  let dressed: Readonly<Record<string, string>> | undefined
  return (event) => {
    if (++told > TOLD_MAX) return
    const begins = { "cache-control": "no-store", "content-type": EVENT_STREAM }
    dressed ??= dress({ status: 200, body: "", headers: begins }, requestId, headers()).headers
    tell(dressed, event)
  }
}

/** Who names the type of a stream takes its answer as one. */
export const takesEvents = (request: WebRequest): boolean => {
  const accept = header(request, "accept")
  return accept !== undefined && /\btext\/event-stream\b/iu.test(accept) && accept.split(",").some(isEvents)
}

/** A weight of zero says that it is not taken. */
const isEvents = (taken: string): boolean =>
  /^\s*text\/event-stream\s*(?:;|$)/iu.test(taken) && !/;\s*q=0(?:\.0*)?\s*(?:;|$)/iu.test(taken)

/**
 * Ids of events. Each names its stream and its place in it, and for a stream of one request the id of the request, so that
 * a node that does not know the stream can still answer the request.
 */

export interface StreamPosition {
  readonly streamId: string
  readonly sequence: number
  /** The JSON text of the request's id; undefined for a batch, and for a long id. */
  readonly requestId: string | undefined
}

/** Longer ids of requests are not part of the event's id. */
const REQUEST_ID_CHARS_MAX = 100
export const EVENT_ID_CHARS_MAX = 1_400

/** After the last event of a stream that cannot be resumed. */
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

/** Of messages that belong to no request: the server's own ids of its events. */
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

/**
 * The response of a mounted service to a client that accepts events: a stream from the first progress event on, a plain
 * response if there is none. A client that disconnects leaves its call.
 */
import { type Cause, Deferred, Effect, Fiber, Queue, type Scope, Stream } from "effect"
import { HttpServerResponse } from "effect/http"
import type { WebResponse, WebRequest } from "../pipeline/WebRequest.ts"
import { lastEvent, streamHeaders, UNREAD_BYTES_MAX, written } from "./EventStream.ts"

/** The scope is the request's: its end is the end of the call. */
export const answering = Effect.fnUntraced(function* (
  dispatch: (request: WebRequest) => Effect.Effect<WebResponse>,
  request: WebRequest,
  whole: (answer: WebResponse) => HttpServerResponse.HttpServerResponse
): Effect.fn.Return<HttpServerResponse.HttpServerResponse, never, Scope.Scope> {
  const encoder = new TextEncoder()
  const unread = yield* Queue.unbounded<Uint8Array, Cause.Done>()
  const decided = yield* Deferred.make<void>()
  let unreadBytes = 0
  let begun: Readonly<Record<string, string>> | undefined
  const sendEvent: WebRequest["sendEvent"] = (headers, event) => {
    const bytes = encoder.encode(written(event))
    if (unreadBytes + bytes.length > UNREAD_BYTES_MAX) return
    unreadBytes += bytes.length
    begun ??= headers
    Queue.offerUnsafe(unread, bytes)
    Deferred.doneUnsafe(decided, Effect.void)
  }
  const call = yield* dispatch({ ...request, sendEvent }).pipe(
    Effect.ensuring(
      Effect.sync(() => {
        Queue.endUnsafe(unread)
        Deferred.doneUnsafe(decided, Effect.void)
      })
    ),
    Effect.forkIn(yield* Effect.scope)
  )
  yield* Deferred.await(decided)
  if (begun === undefined) return whole(yield* Fiber.join(call))
  const events = Stream.map(Stream.fromQueue(unread), (bytes) => {
    unreadBytes -= bytes.length
    return bytes
  })
  const last = Effect.map(Fiber.join(call), (answer) => encoder.encode(written(lastEvent(answer))))
  return HttpServerResponse.stream(Stream.concat(events, Stream.fromEffect(last)), { headers: streamHeaders(begun) })
})

/**
 * Mounts the service in the HttpRouter of another app: for all paths that the app's own routes do not match, or for
 * everything below a prefix. The app's server reads requests and sends responses, with its own limits on headers,
 * connections and time.
 */
import { ByteSize, type Cause, Deferred, Effect, Fiber, Option, Queue, Schema, type Scope, Stream } from "effect"
import { HttpIncomingMessage, HttpRouter, type HttpServerRequest, HttpServerResponse } from "effect/http"
import { prefixOf } from "../contract/BaseUrl.ts"
import { Dispatcher } from "../pipeline/Dispatcher.ts"
import { PayloadTooLarge } from "../pipeline/Failures.ts"
import { type LastEvent, plainAddress, takesEvents, type WebRequest, type WebResponse } from "../pipeline/WebRequest.ts"
import { lastEvent, standingOf, streamHeaders, written } from "./HttpMessages.ts"

/** The layer is not built where links of the service would not lead to the prefix at which it is mounted. */
export class WrongPrefix extends Schema.TaggedError<WrongPrefix>()("WrongPrefix", {
  prefix: Schema.String,
  baseUrl: Schema.String
}) {
  override get message() {
    return (
      `The API is mounted at ${this.prefix}, but BASE_URL is ${this.baseUrl}: links would not lead to the API. ` +
      `End BASE_URL with ${this.prefix}.`
    )
  }
}

export interface MountOptions {
  /** The API is served below it. Default: the path of BASE_URL, or what a proxy that removes a part leaves of it. */
  readonly prefix?: `/${string}`
  /**
   * The IP address of the client that sent a request, as your server or platform knows it. Never a header that clients can
   * set. Default: the address of the connection, which a web handler does not have.
   */
  readonly addressOf?: (request: HttpServerRequest.HttpServerRequest) => string | undefined
}

const connectionAddress: NonNullable<MountOptions["addressOf"]> = (request) =>
  Option.getOrUndefined(request.remoteAddress)

/** Serves the API in your router. */
export const layer = ({ addressOf, prefix }: MountOptions = {}) =>
  HttpRouter.use(
    Effect.fnUntraced(function* (router) {
      if (addressOf === undefined) {
        yield* Effect.logWarning(
          "routerMount has no addressOf: clients are told apart by the address of their connection. Where the server does " +
            "not tell it, as HttpRouter.toWebHandler, limits by address are off."
        )
      }
      const { baseUrl, dispatch } = yield* Dispatcher
      const path = (prefix ?? prefixOf(baseUrl)).replace(/\/$/u, "")
      if (!prefixOf(baseUrl).endsWith(path)) return yield* new WrongPrefix({ prefix: path, baseUrl })
      const below = path === "" ? router : router.prefixed(path)
      yield* below.add("*", "/*", (request) => {
        const asked = toWebRequest(request, (addressOf ?? connectionAddress)(request))
        return takesEvents(asked) ? answering(dispatch, asked, toResponse) : Effect.map(dispatch(asked), toResponse)
      })
    })
  )

const toWebRequest = (request: HttpServerRequest.HttpServerRequest, address: string | undefined): WebRequest => {
  const mark = request.url.indexOf("?")
  return {
    method: request.method,
    path: mark === -1 ? request.url : request.url.slice(0, mark),
    query: mark === -1 ? "" : request.url.slice(mark + 1),
    headers: request.headers,
    remoteAddress: plainAddress(address),
    body: (bytesMax) => readBody(request, bytesMax)
  }
}

const readBody = (
  request: HttpServerRequest.HttpServerRequest,
  bytesMax: number
): Effect.Effect<Uint8Array, PayloadTooLarge> =>
  Number(request.headers["content-length"] ?? 0) > bytesMax
    ? Effect.fail(new PayloadTooLarge({ bytesMax }))
    : request.arrayBuffer.pipe(
        Effect.provideService(HttpIncomingMessage.MaxBodySize, ByteSize.bytes(bytesMax)),
        Effect.map((buffer) => new Uint8Array(buffer)),
        Effect.catchReason(
          "HttpServerError",
          "RequestParseError",
          ({ reason }) =>
            reason === "BodyTooLarge" ? Effect.fail(new PayloadTooLarge({ bytesMax })) : Effect.interrupt,
          // The body broke off: the client disconnected.
          () => Effect.interrupt
        )
      )

const toResponse = ({ body, headers, status }: WebResponse): HttpServerResponse.HttpServerResponse => {
  if (status === 204) return HttpServerResponse.empty({ status, headers })
  return typeof body === "string"
    ? HttpServerResponse.text(body, { status, headers })
    : HttpServerResponse.uint8Array(body, { status, headers })
}

/** Closes the connection. */
const unreadByClient = Effect.die(new Error("The client does not read the events of its stream"))

/**
 * Sends a client that accepts events a stream from the first progress event on, or a plain response if there is none. A
 * client that disconnects leaves its call. The scope is the request's: its end is the end of the call.
 */
export const answering = Effect.fnUntraced(function* (
  dispatch: (request: WebRequest) => Effect.Effect<WebResponse>,
  request: WebRequest,
  whole: (answer: WebResponse) => HttpServerResponse.HttpServerResponse
): Effect.fn.Return<HttpServerResponse.HttpServerResponse, never, Scope.Scope> {
  const encoder = new TextEncoder()
  const unread = yield* Queue.unbounded<Uint8Array, Cause.Done>()
  const decided = yield* Deferred.make<void>()
  let unreadBytes = 0
  let isOverflowing = false
  let begun: Readonly<Record<string, string>> | undefined
  let lastOf: LastEvent = lastEvent
  const sendEvent: WebRequest["sendEvent"] = (headers, event, last) => {
    const bytes = encoder.encode(written(event))
    const standing = standingOf(event, unreadBytes, bytes.length)
    if (isOverflowing || standing === "dropped") return
    if (standing === "overflow") {
      isOverflowing = true
      return void Queue.endUnsafe(unread)
    }
    lastOf = last ?? lastEvent
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
  const last = Effect.suspend(() => (isOverflowing ? unreadByClient : Fiber.join(call))).pipe(
    Effect.map((answer) => {
      const event = lastOf(answer)
      return encoder.encode(event === undefined ? "" : written(event))
    })
  )
  return HttpServerResponse.stream(Stream.concat(events, Stream.fromEffect(last)), { headers: streamHeaders(begun) })
})

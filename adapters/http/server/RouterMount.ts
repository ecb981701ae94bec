/**
 * Mounts the service in the HttpRouter of another app: for all paths that the app's own routes do not match, or for
 * everything below a prefix. The app's server reads requests and sends responses, with its own limits on headers,
 * connections and time.
 */
import { ByteSize, Effect, Option } from "effect"
import { HttpIncomingMessage, HttpRouter, type HttpServerRequest, HttpServerResponse } from "effect/http"
import { plainAddress } from "../pipeline/ClientAddress.ts"
import { Dispatcher } from "../pipeline/Dispatcher.ts"
import { PayloadTooLarge } from "../pipeline/Failures.ts"
import { takesEvents } from "../pipeline/ProgressEvents.ts"
import type { WebResponse, WebRequest } from "../pipeline/WebRequest.ts"
import { answering } from "./MountedStream.ts"

/** Below a prefix the API is complete. Pages are not, because their links start at the root. */
export const layer = (prefix: `/${string}` = "/") =>
  HttpRouter.use(
    Effect.fnUntraced(function* (router) {
      const { dispatch } = yield* Dispatcher
      const below = prefix === "/" ? router : router.prefixed(prefix)
      yield* below.add("*", "/*", (request) => {
        const asked = toWebRequest(request)
        return takesEvents(asked) ? answering(dispatch, asked, toResponse) : Effect.map(dispatch(asked), toResponse)
      })
    })
  )

const toWebRequest = (request: HttpServerRequest.HttpServerRequest): WebRequest => {
  const mark = request.url.indexOf("?")
  return {
    method: request.method,
    path: mark === -1 ? request.url : request.url.slice(0, mark),
    query: mark === -1 ? "" : request.url.slice(mark + 1),
    headers: request.headers,
    remoteAddress: plainAddress(Option.getOrUndefined(request.remoteAddress)),
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

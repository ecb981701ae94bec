/**
 * A client of the API for Effect programs, made from the contract: a method for each operation, each problem a typed error
 * with its `code` and fields.
 */
import { Context, Effect, identity, Layer, Record, type Redacted } from "effect"
import { HttpClient, HttpClientRequest, HttpClientResponse } from "effect/http"
import { HttpApiClient } from "effect/http-api"
import { Api } from "../openapi/Api.ts"
import { Dispatcher } from "../pipeline/Dispatcher.ts"
import { PayloadTooLarge } from "../pipeline/Failures.ts"
import type { WebResponse } from "../pipeline/WebRequest.ts"

/** Where the service is, and as whom the client calls it. */
export interface ApiClientOptions {
  /** For example `https://market.example.com`. */
  readonly baseUrl: string
  /** An API key of a consumer, a provider or the operator. Without one only public operations succeed. */
  readonly key?: Redacted.Redacted | undefined
}

export type ApiClient = HttpApiClient.ForApi<typeof Api>

/** For the requests of an effect: makes one that changes something safe to repeat. Default: none. */
export const IdempotencyKey = Context.Reference<string | undefined>(
  "agent-tool-billing/adapters/http/client/IdempotencyKey",
  { defaultValue: () => undefined }
)

/** Makes a client. Without a key only public operations succeed. The program's `HttpClient` sends the requests. */
export const make = ({ baseUrl, key }: ApiClientOptions): Effect.Effect<ApiClient, never, HttpClient.HttpClient> =>
  HttpApiClient.make(Api, {
    baseUrl,
    transformClient: HttpClient.mapRequestEffect((request) =>
      Effect.map(IdempotencyKey, (idempotencyKey) =>
        request.pipe(
          key === undefined ? identity : HttpClientRequest.bearerToken(key),
          idempotencyKey === undefined ? identity : HttpClientRequest.setHeader("idempotency-key", idempotencyKey)
        )
      )
    )
  }).pipe(Effect.map(withoutHeaders))

type Operations = Readonly<Record<string, Readonly<Record<string, (request: object) => unknown>>>>

/** The declared headers are all optional, and set above. */
const withoutHeaders = (client: ApiClient): ApiClient =>
  Record.map(client as unknown as Operations, (group) =>
    Record.map(group, (operation) => (request: object) => operation({ headers: {}, ...request }))
  ) as unknown as ApiClient

/** An `HttpClient` without sockets: every request goes to the service of this process. */
export const layerInProcess: Layer.Layer<HttpClient.HttpClient, never, Dispatcher> = Layer.effect(
  HttpClient.HttpClient,
  Effect.map(Dispatcher, ({ dispatch }) =>
    HttpClient.make((request, { pathname, search }) =>
      dispatch({
        method: request.method,
        path: pathname,
        query: search.slice(1),
        headers: request.headers,
        remoteAddress: "127.0.0.1",
        body: (bytesMax) => bodyOf(request, bytesMax)
      }).pipe(Effect.map((response) => HttpClientResponse.fromWeb(request, toResponse(response))))
    )
  )
)

/** The contract has bodies of JSON only. */
const bodyOf = ({ body }: HttpClientRequest.HttpClientRequest, bytesMax: number) => {
  const bytes = body._tag === "Uint8Array" ? body.body : new Uint8Array()
  return bytes.byteLength > bytesMax ? Effect.fail(new PayloadTooLarge({ bytesMax })) : Effect.succeed(bytes)
}

const toResponse = ({ body, headers, status }: WebResponse): Response =>
  new Response(status === 204 || status === 304 ? null : new Uint8Array(Buffer.from(body)), { headers, status })

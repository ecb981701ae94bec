/**
 * A client of the API for Effect programs, made from the contract: a method for each operation, which fails with the problems
 * that its endpoint declares. Each is an error tagged by its code, with its fields.
 */
import { Context, Effect, identity, Layer, Predicate, Record, type Redacted, type Schema } from "effect"
import { HttpClient, type HttpClientError, HttpClientRequest, HttpClientResponse } from "effect/http"
import { type HttpApi, HttpApiClient, type HttpApiEndpoint } from "effect/http-api"
import type { ProblemBody } from "../contract/Problem.ts"
import { Api } from "../openapi/Api.ts"
import { Dispatcher } from "../pipeline/Dispatcher.ts"
import { PayloadTooLarge } from "../pipeline/Failures.ts"
import type { WebResponse } from "../pipeline/WebRequest.ts"

/** The address of the service, and the account that calls it. */
export interface ApiClientOptions {
  /** For example `https://market.example.com`. */
  readonly baseUrl: string
  /** An API key of a consumer, a provider or the operator. Without one only public operations succeed. */
  readonly key?: Redacted.Redacted | undefined
}

type Groups = typeof Api extends HttpApi.HttpApi<infer _Id, infer All> ? All : never

/** The operations of the contract by group and name. */
export type ApiClient = {
  readonly [Group in Groups as Group["identifier"]]: {
    readonly [Name in keyof Group["endpoints"]]: Group["endpoints"][Name] extends HttpApiEndpoint.ConstraintRequest
      ? Operation<Group["endpoints"][Name]>
      : never
  }
}

type Operation<Endpoint extends HttpApiEndpoint.ConstraintRequest> = <
  Mode extends HttpApiEndpoint.ClientResponseMode = "decoded-only"
>(
  ...given: Given<Input<Endpoint>, { readonly responseMode?: Mode }>
) => Effect.Effect<
  HttpApiClient.Client.Response<HttpApiClient.SuccessType<Endpoint["~Success"]>, Mode>,
  | HttpClientError.HttpClientError
  | (Mode extends "response-only" ? never : Tagged<Endpoint["~Error"]["Type"]> | Schema.SchemaError)
>

/** A problem as an error: its `_tag` is its code, so that `Effect.catchTag` finds it. */
export type Tagged<Problem> = Problem extends { readonly code: infer Code }
  ? Problem & Error & { readonly _tag: Code }
  : never

/** Optional where every field is. */
type Part<Name extends string, Fields> = [Fields] extends [never]
  ? unknown
  : Record<never, never> extends Fields
    ? { readonly [_ in Name]?: Fields }
    : { readonly [_ in Name]: Fields }

type Input<Endpoint extends HttpApiEndpoint.ConstraintRequest> = Part<"params", Endpoint["~Params"]["Type"]> &
  Part<"query", Endpoint["~Query"]["Type"]> &
  Part<"payload", Endpoint["~Payload"]["Type"]>

type Given<Input, Options> = Record<never, never> extends Input ? [input?: Input & Options] : [input: Input & Options]

/** Makes a request of the effect that changes something safe to repeat. Default: none. */
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
    ),
    transformResponse: Effect.mapError(tagged)
  }).pipe(Effect.map(withOptionalParts))

const tagged = (error: unknown): unknown =>
  isProblem(error) ? Object.assign(new Error(error.message), error, { _tag: error.code, name: error.code }) : error

const isProblem = (error: unknown): error is ProblemBody =>
  Predicate.hasProperty(error, "error") && error.error === true && Predicate.hasProperty(error, "code")

type Operations = Readonly<Record<string, Readonly<Record<string, (request: object) => unknown>>>>

interface Parts {
  readonly headers?: object | undefined
  readonly query?: object | undefined
  readonly payload?: object | undefined
}

/** The declared headers are all optional, and set above. A part that an endpoint does not have is not sent. */
const withOptionalParts = (client: object): ApiClient =>
  Record.map(client as Operations, (group) =>
    Record.map(
      group,
      (operation) =>
        ({ headers = {}, payload = {}, query = {}, ...rest }: Parts = {}) =>
          operation({ ...rest, headers, payload, query })
    )
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

/**
 * Joins an endpoint of the contract to the function that answers it. Decoders and encoders come from the endpoint's own
 * schemas and are built once.
 */
import { Context, Effect, Schema } from "effect"
import { type HttpApiEndpoint, OpenApi } from "effect/http-api"
import type { Principal, Role } from "../../../domain/accounts/Principal.ts"
import { Access, type AccessRule } from "../api/Access.ts"
import { type Decoding, decodingOf, documentQuery } from "./Decoding.ts"
import type { NotInTime } from "./Failures.ts"
import { parseQuery } from "./Query.ts"
import type { Refusal } from "./Refusals.ts"
import { type BodyRules, storedBody } from "./RequestBody.ts"
import type { ServerSentEvent, WebAnswer, WebRequest } from "./WebRequest.ts"

/** Annotations of the request's log lines and its trace: ids and names of the contract, never a key or text of a client. */
export interface RequestNotes {
  readonly request_id: string
  readonly method: string
  readonly route: string
  /** The account of the key. */
  owner_id?: string
  /** The call's, which is also its receipt's. */
  invocation_id?: string
}

/** The request's deadline, as the work controls it. */
export interface RequestClock {
  /** While another limit holds: that of a client that sends its body. */
  pause(): void
  /** What follows has the whole time of a request, and `extraMs` more for what it waits for elsewhere. */
  restart(extraMs: number): void
  /** Work for which this is true goes on when its caller disconnects or its time is up. */
  attend(goesOn: () => boolean): void
}

/** What a handler may know of a request. */
export interface AnyInput {
  readonly params: unknown
  readonly query: unknown
  readonly payload: unknown
  /** Undefined without a key, where none is needed. */
  readonly caller: Principal | undefined
  /** The caller, in a role that the endpoint's access rule admits. */
  as<R extends Role>(...roles: ReadonlyArray<R>): Extract<Principal, { readonly role: R }>
  readonly request: WebRequest
  readonly clientAddress: string
  readonly requestId: string
  /** A handler adds what it learns. */
  readonly notes: RequestNotes
  /** The body as it was sent. */
  readonly text: string
  readonly clock: RequestClock
  /** Sends an event before the answer; undefined where the client or its server takes none. */
  readonly tell: ((event: ServerSentEvent) => void) | undefined
}

type TypeOf<S> = [S] extends [never] ? undefined : S extends { readonly Type: infer A } ? A : undefined

export interface Input<E extends HttpApiEndpoint.ConstraintRequest> extends Omit<
  AnyInput,
  "params" | "query" | "payload"
> {
  readonly params: TypeOf<E["~Params"]>
  readonly query: TypeOf<E["~Query"]>
  readonly payload: TypeOf<E["~Payload"]>
}

export interface Reply<A> {
  readonly status: number
  readonly body: A
  readonly headers?: Readonly<Record<string, string>>
}

/** Answers that clients of the open specification compare word for word, in place of the usual problems. */
export interface Quirks {
  readonly badRequest: string
  /** For methods that the path does not take. */
  readonly otherMethods: WebAnswer
}

/** What the dispatcher needs to know of a route. */
export interface Route extends Decoding {
  readonly method: string
  readonly path: string
  /** As indexes write it, where the router is told otherwise. */
  readonly shownPath?: string
  /** What it is for, in a line: what indexes say of it. */
  readonly summary: string
  readonly rule: AccessRule
  readonly takesBody: boolean
  readonly body: BodyRules
  readonly quirks: Quirks | undefined
  /** Keeps idempotency keys itself, because it reaches outside the unit of work that would keep them. */
  readonly ownIdempotency: boolean
  /** What a caller is told for whom the answer comes too late. */
  readonly late: NotInTime["kind"]
  /** The whole answer: handler, then the success schema of its status. */
  answer(input: AnyInput): Effect.Effect<EncodedReply, Refusal>
}

export interface EncodedReply {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** Bytes only where nothing keeps the answer for a replay. */
  readonly body: string | Uint8Array
}

export interface RouteOptions {
  /** Decodes the body instead of the contract's schema: where parts of it are judged one by one. */
  readonly lenientPayload?: Schema.Top
  readonly body?: BodyRules
  readonly quirks?: Quirks
  readonly ownIdempotency?: boolean
  readonly late?: NotInTime["kind"]
}

/** The handler answers with a value; the success schema of its status writes it. */
export const route = <const E extends HttpApiEndpoint.ConstraintRequest>(
  endpoint_: E,
  handler: (input: Input<E>) => Effect.Effect<Reply<TypeOf<E["~Success"]>>, Refusal>,
  options?: RouteOptions
): Route => {
  const endpoint = endpoint_ as unknown as HttpApiEndpoint.Top
  const encoders = encodersByStatus(endpoint)
  return encodedRoute(
    endpoint_,
    Effect.fnUntraced(function* (input) {
      const reply = yield* handler(input)
      const encode = encoders.get(reply.status)
      if (encode === undefined) {
        return yield* Effect.die(new Error(`${endpoint.identifier} declares no success with status ${reply.status}`))
      }
      const encoded = yield* Effect.orDie(encode(reply.body))
      return { status: reply.status, headers: reply.headers ?? {}, body: JSON.stringify(encoded) }
    }),
    options
  )
}

/** The handler writes the answer's text itself, as the hot path does; tests hold it to the contract. */
export const encodedRoute = <const E extends HttpApiEndpoint.ConstraintRequest>(
  endpoint_: E,
  handler: (input: Input<E>) => Effect.Effect<EncodedReply, Refusal>,
  options?: RouteOptions
): Route => {
  const endpoint = endpoint_ as unknown as HttpApiEndpoint.Top
  const payload = options?.lenientPayload ?? endpoint.payload.get("application/json")?.schemas[0]
  const rule = Context.get(endpoint.annotations as Context.Context<never>, Access)
  return {
    method: endpoint.method,
    path: endpoint.path,
    summary: Context.getOrElse(endpoint.annotations, OpenApi.Summary, () => endpoint.identifier),
    rule,
    takesBody: payload !== undefined,
    body: options?.body ?? storedBody,
    quirks: options?.quirks,
    ownIdempotency: options?.ownIdempotency ?? false,
    late: options?.late ?? (endpoint.method === "GET" ? "read" : "write"),
    ...decodingOf(endpoint, payload),
    answer: (input) => handler(input as Input<E>)
  }
}

/** What a page was asked with, as plain text. */
export interface PageQuestion {
  readonly params: Readonly<Record<string, string | undefined>>
  readonly query: Readonly<Record<string, string>>
}

/** A page whose address says what it shows. */
export const pageRoute = (
  path: `/${string}`,
  rule: AccessRule,
  summary: string,
  page: (question: PageQuestion) => Effect.Effect<EncodedReply>
): Route => ({
  ...documentRoute(path, rule, Effect.die(new Error("Asked without its question")), summary),
  decodeParams: Effect.succeed,
  decodeQuery: (query) => parseQuery(query, undefined),
  answer: ({ params, query }) => page({ params, query } as PageQuestion)
})

/** A document that is no part of the JSON contract: a page, the OpenAPI file. */
export const documentRoute = (
  path: `/${string}`,
  rule: AccessRule,
  document: Effect.Effect<EncodedReply>,
  summary = "A page for people"
): Route => ({
  method: "GET",
  path,
  summary,
  rule,
  takesBody: false,
  body: storedBody,
  quirks: undefined,
  ownIdempotency: false,
  late: "read",
  decodeParams: undefined,
  decodeQuery: documentQuery(path),
  decodePayload: () => Effect.undefined,
  answer: () => document
})

type Encode = (value: unknown) => Effect.Effect<unknown, Schema.SchemaError>

const encodersByStatus = (endpoint: HttpApiEndpoint.Top): ReadonlyMap<number, Encode> =>
  new Map([...endpoint.success].map((schema) => [statusOf(schema), Schema.encodeUnknownEffect(schema) as Encode]))

/** As `HttpApiSchema.status` notes it down. */
const statusOf = (schema: Schema.Top): number => {
  const noted =
    Schema.resolveAnnotations(schema)?.["httpApiStatus"] ?? Schema.resolveAnnotationsKey(schema)?.["httpApiStatus"]
  return typeof noted === "number" ? noted : 200
}

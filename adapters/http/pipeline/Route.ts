/**
 * Connects an endpoint of the contract to its handler and to the problems of its room. Decoders and encoders come from the endpoint's
 * own schemas and are built once. Below: a request while it passes the stages.
 */
import { Context, Effect, Schema } from "effect"
import { type HttpApiEndpoint, OpenApi } from "effect/http-api"
import type { Principal, Role } from "../../../domain/accounts/Authentication.ts"
import type { Invoice } from "../../../domain/invoices/Invoice.ts"
import { escapeHiddenJson } from "../../../domain/shared/PlainText.ts"
import { type AccessRule, declaredBy, type Declares, statusOf } from "../contract/Endpoint.ts"
import type { NamedCode, ProblemStatus } from "../contract/Problem.ts"
import { type BodyRules, type Decoding, decodingOf, documentQuery, parseQuery, storedBody } from "./Decoding.ts"
import type { RateLimited, RequestTimedOut } from "./Failures.ts"
import type { ErrorDeclared, ProblemTable, RequestError } from "./Problems.ts"
import type { EventStarter, ServerSentEvent, WebRequest, WebResponse } from "./WebRequest.ts"

/** Annotations of the request's log lines and its trace: ids and names of the contract, never a key or text of a client. */
export interface RequestNotes {
  readonly request_id: string
  readonly method: string
  readonly route: string
  /** The account of the key. */
  owner_id?: string
  /** The id of the call, which is also the id of its receipt. */
  invocation_id?: string
}

/** The request's deadline, as the handler controls it. */
export interface RequestClock {
  /** Stops the clock while another limit applies: the time for sending the body. */
  pause(): void
  /** Restarts the full time of a request, plus `extraMs` for what the rest waits for elsewhere. */
  restart(extraMs: number): void
  /** The work continues after its caller disconnects, its time is up or `answer` is called, if this returns true. */
  registerDisconnect(continues: () => boolean): void
  answer(reply: EncodedReply): void
}

export interface AnyInput {
  readonly params: unknown
  readonly query: unknown
  readonly payload: unknown
  /** Undefined without a key, where the endpoint needs none. */
  readonly caller: Principal | undefined
  /** The caller, in a role that the endpoint's access rule admits. */
  as<R extends Role>(...roles: ReadonlyArray<R>): Extract<Principal, { readonly role: R }>
  readonly request: WebRequest
  readonly clientAddress: string
  readonly requestId: string
  /** The handler adds its own. */
  readonly notes: RequestNotes
  /** The body as it was sent. */
  readonly text: string
  /** The result of the route's `prepare`. */
  readonly prepared: unknown
  readonly clock: RequestClock
  /** Sends an event before the answer; undefined where the client or its server takes none. */
  readonly sendEvent: ((event: ServerSentEvent) => void) | undefined
  /** Starts a stream like `sendEvent`, without a limit on the number of events, and with another last event. */
  readonly startEvents: EventStarter | undefined
  /** The parameters of the path, not decoded by a schema. */
  readonly pathParams: Readonly<Record<string, string | undefined>>
}

export type TypeOf<S> = [S] extends [never] ? undefined : S extends { readonly Type: infer A } ? A : undefined

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

/** Responses that clients of the open specification compare byte for byte, instead of the usual problems. */
export interface Compatibility {
  readonly badRequest: string
  readonly otherMethods: WebResponse
}

/** An error of a handler, whose row its route has. Only the functions below make one. */
export interface HandlerFailure extends Error {
  readonly _tag: string
  readonly [hasRow]: true
}
declare const hasRow: unique symbol

export type Failure = RequestError | HandlerFailure

export interface Route extends Decoding {
  readonly method: string
  readonly path: string
  /** The path shown in indexes, where the router's path differs. */
  readonly shownPath?: string
  /** One line for the indexes. */
  readonly summary: string
  readonly rule: AccessRule
  readonly takesBody: boolean
  readonly body: BodyRules
  readonly compatibility: Compatibility | undefined
  /** Stores idempotency keys itself, because it makes external calls, which must not run inside a unit of work. */
  readonly ownIdempotency: boolean
  readonly problems: ProblemTable
  /** The problem says this when the response is late. */
  readonly late: RequestTimedOut["kind"]
  /** Runs before the unit of work of an idempotent request, also before a replay: for what asks other systems. */
  prepare?(input: AnyInput): Effect.Effect<unknown, Failure>
  /** Answers requests that are rejected with or without a key; undefined for any other. */
  readonly answerUnauthenticated?: ((request: WebRequest) => EncodedReply | undefined) | undefined
  /** Answers instead of HTTP 429 if the rate limit of the key is exceeded. */
  readonly answerLimited?: ((input: AnyInput, error: RateLimited) => ReturnType<Route["answer"]>) | undefined
  /** The whole response: handler, then the success schema of its status. */
  answer(input: AnyInput): Effect.Effect<EncodedReply, Failure>
}

export interface EncodedReply {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** Bytes only where the response is not stored for a replay. */
  readonly body: string | Uint8Array
}

export interface RouteOptions {
  /** Decodes the body instead of the contract's schema: where parts of it are validated separately. */
  readonly lenientPayload?: Schema.Top
  readonly body?: BodyRules
  readonly compatibility?: Compatibility
  readonly ownIdempotency?: boolean
  readonly late?: RequestTimedOut["kind"]
}

/** The type alone names the endpoint that a route answers, such as `GET /api/market/catalog`. */
export interface Answers<Name extends string> {
  readonly "~Answers": Name
}

type RouteOf<E> = E extends { readonly method: infer M extends string; readonly path: infer P extends string }
  ? Route & Answers<`${M} ${P}`>
  : Route

/** Endpoints of the contract declare the statuses of their problems. */
type AnyEndpoint = HttpApiEndpoint.ConstraintRequest & Declares<ProblemStatus, NamedCode>
type ErrorOf<E extends AnyEndpoint, Table> = ErrorDeclared<Table, E["~Problems"], E["~Named"]>

/**
 * A handler is an effect, or a generator as in `Effect.gen`. It fails with errors that have a row, with a status that its endpoint
 * declares, no others.
 */
type Handler<E extends AnyEndpoint, Table, A> = (
  input: Input<E>
) => Effect.Effect<A, ErrorOf<E, Table>> | Generator<Effect.Effect<unknown, ErrorOf<E, Table>>, A, never>

/** The handler runs again where a unit of work is repeated. */
const run = <I, A, E>(
  handler: (input: I) => Effect.Effect<A, E> | Generator<Effect.Effect<unknown, E>, A, never>,
  input: I
): Effect.Effect<A, E> =>
  Effect.suspend(() => {
    const handled = handler(input)
    return Effect.isEffect(handled) ? handled : Effect.gen(() => handled)
  })

/** Makes the routes of a room, whose table has a row for each of its errors. */
export const routesWith = <const Table extends ProblemTable>(problems: Table) => {
  /** The handler writes the response text itself, as the hot path does; tests compare it with the contract. */
  const encodedRoute = <const E extends AnyEndpoint>(
    endpoint_: E,
    handler: Handler<E, Table, EncodedReply>,
    options?: RouteOptions
  ): RouteOf<E> => {
    const endpoint = endpoint_ as unknown as HttpApiEndpoint.Top
    const payload = options?.lenientPayload ?? endpoint.payload.get("application/json")?.schemas[0]
    const { access: rule } = declaredBy(endpoint)
    const encoded: Route = {
      method: endpoint.method,
      path: endpoint.path,
      summary: Context.getOrElse(endpoint.annotations, OpenApi.Summary, () => endpoint.identifier),
      rule,
      takesBody: payload !== undefined,
      body: options?.body ?? storedBody,
      compatibility: options?.compatibility,
      ownIdempotency: options?.ownIdempotency ?? false,
      late: options?.late ?? (endpoint.method === "GET" ? "read" : "write"),
      ...decodingOf(endpoint, payload),
      ...withProblems(problems, (input) => run(handler, input as Input<E>) as Effect.Effect<EncodedReply, never>)
    }
    return encoded as unknown as RouteOf<E>
  }

  /** The handler returns a reply, whose body is encoded by the success schema of its status. */
  const replyRoute = <const E extends AnyEndpoint>(
    endpoint_: E,
    handler: Handler<E, Table, Reply<TypeOf<E["~Success"]>>>,
    options?: RouteOptions
  ): RouteOf<E> => {
    const endpoint = endpoint_ as unknown as HttpApiEndpoint.Top
    const encoders = encodersByStatus(endpoint)
    return encodedRoute(
      endpoint_,
      function* (input) {
        const reply = yield* run(handler, input)
        const encode = encoders.get(reply.status)
        if (encode === undefined) {
          return yield* Effect.die(new Error(`${endpoint.identifier} declares no success with status ${reply.status}`))
        }
        const encoded = yield* Effect.orDie(encode(reply.body))
        return { status: reply.status, headers: reply.headers ?? {}, body: escapeHiddenJson(JSON.stringify(encoded)) }
      },
      options
    )
  }

  /** The handler returns a body, encoded by the endpoint's only success schema. */
  const route = <const E extends AnyEndpoint>(
    endpoint: E,
    handler: Handler<E, Table, TypeOf<E["~Success"]>>,
    options?: RouteOptions
  ): RouteOf<E> => {
    const [status, ...others] = encodersByStatus(endpoint as unknown as HttpApiEndpoint.Top).keys()
    if (status === undefined || others.length > 0) throw new Error(`${endpoint.identifier} needs a status in its reply`)
    return replyRoute(endpoint, (input) => Effect.map(run(handler, input), (body) => ({ status, body })), options)
  }

  /** A `route` whose handler gets the result of `prepare`, which asks other systems before the unit of work begins. */
  const preparedRoute = <const E extends AnyEndpoint, P>(
    endpoint: E,
    prepare: (input: Input<E>) => Effect.Effect<P, ErrorOf<E, Table>>,
    handler: (
      input: Input<E>,
      prepared: P
    ) => Generator<Effect.Effect<unknown, ErrorOf<E, Table>>, TypeOf<E["~Success"]>, never>,
    options?: RouteOptions
  ): RouteOf<E> => ({
    ...route(endpoint, (input) => Effect.gen(() => handler(input, input.prepared as P)), options),
    prepare: (input) => prepare(input as Input<E>) as Effect.Effect<P, never>
  })

  return { route, replyRoute, encodedRoute, preparedRoute }
}

/** These are for handlers without errors of their own. */
export const { encodedRoute, replyRoute, route } = routesWith({})

/** A handler and the rows of its errors. */
export const withProblems = <const Table extends ProblemTable>(
  problems: Table,
  answer: (input: AnyInput) => Effect.Effect<EncodedReply, RequestError | ErrorDeclared<Table, ProblemStatus>>
): Pick<Route, "answer" | "problems"> => ({ problems, answer: answer as Route["answer"] })

/** The path and query of a page, as plain text. */
export interface PageQuestion {
  readonly params: Readonly<Record<string, string | undefined>>
  readonly query: Readonly<Record<string, string>>
}

/** A page whose content depends on its path or query. */
export const pageRoute = (
  path: `/${string}`,
  rule: AccessRule,
  summary: string,
  page: (question: PageQuestion) => Effect.Effect<EncodedReply, Failure>
): Route => ({
  ...documentRoute(path, rule, Effect.die(new Error("Asked without its question")), summary),
  decodeParams: Effect.succeed,
  decodeQuery: (query) => parseQuery(query, undefined),
  answer: ({ params, query }) => page({ params, query } as PageQuestion)
})

/** A document outside the JSON contract: a page, the OpenAPI file. Beside routes of the contract it does not widen their type. */
export const documentRoute = (
  path: `/${string}`,
  rule: AccessRule,
  document: Effect.Effect<EncodedReply, Failure>,
  summary = "A page for people"
): Route & Answers<never> => {
  const shown: Route = {
    method: "GET",
    path,
    summary,
    rule,
    takesBody: false,
    body: storedBody,
    compatibility: undefined,
    ownIdempotency: false,
    late: "read",
    problems: {},
    decodeParams: undefined,
    decodeQuery: documentQuery(path),
    decodePayload: () => Effect.undefined,
    answer: () => document
  }
  return shown as Route & Answers<never>
}

type Encode = (value: unknown) => Effect.Effect<unknown, Schema.SchemaError>

const encodersByStatus = (endpoint: HttpApiEndpoint.Top): ReadonlyMap<number, Encode> =>
  new Map([...endpoint.success].map((schema) => [statusOf(schema), Schema.encodeUnknownEffect(schema) as Encode]))

/** A page as Markdown. */
export interface DocumentLink {
  readonly path: string
  readonly title: string
  readonly summary: string
}

/**
 * The web pages that this service serves beside its API. Pages are another adapter: the composition combines the two.
 */
export class Pages extends Context.Service<
  Pages,
  {
    readonly routes: ReadonlyArray<Route>
    /** A browser gets it for a path without a route. Other clients get a problem; all of them if it is undefined. */
    readonly notFound: EncodedReply | undefined
    readonly documents: ReadonlyArray<DocumentLink>
    readonly invoice: (invoice: Invoice) => EncodedReply
  }
>()("agent-tool-billing/adapters/http/Pages") {}

// A request while it passes the stages. Each stage writes its results; later stages, the handler and the log read them.

export interface RequestContext extends AnyInput {
  readonly route: Route
  /** The caller's own, if it is well formed. */
  readonly traceparent: string | undefined
  readonly startedMs: number
  /** Headers of the response whatever its status: CORS and trace. */
  readonly headers: Readonly<Record<string, string>>
  /** Written by the timeout. */
  clock: RequestClock
  /** Written by the limit that was checked last. */
  limitHeaders: Readonly<Record<string, string>>
  /** Written by authentication. */
  caller: Principal | undefined
  /** Written by decoding. */
  params: unknown
  query: unknown
  payload: unknown
  text: string
  /** Written by preparation. */
  prepared: unknown
  /** Written by the replay of idempotent requests. */
  isReplay: boolean
}

export type Next<A = EncodedReply, E = Failure> = (context: RequestContext) => Effect.Effect<A, E>

/** Continues with `next`, or ends the request without it. The stages before it process its result in reverse order. */
export type Stage<A = EncodedReply, E = Failure> = (context: RequestContext, next: Next<A, E>) => Effect.Effect<A, E>

export const inOrder = <A, E>(stages: ReadonlyArray<Stage<A, E>>, last: Next<A, E>): Next<A, E> =>
  stages.reduceRight<Next<A, E>>((next, stage) => (context) => stage(context, next), last)

/** The name in metrics and logs of a request without a route. */
export const UNMATCHED = { method: "other", path: "unmatched" } as const

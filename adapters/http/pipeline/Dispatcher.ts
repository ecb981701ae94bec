/**
 * Processes a request from arrival to response: finds its route, runs its stages, and turns the result into a response. All requests
 * pass these stages, so that all responses follow the same conventions.
 */
import { Cause, Clock, Context, Effect } from "effect"
import { FindMyWay } from "effect/http"
import type { Principal, Role } from "../../../domain/accounts/Authentication.ts"
import { Metering } from "../../../domain/metering/Metering.ts"
import { DiskWatch } from "../../../domain/platform/Health.ts"
import { SignerUnavailable } from "../../../domain/receipts/Receipts.ts"
import { Entropy } from "../../../domain/shared/Cryptography.ts"
import { StoreUnavailable } from "../../../domain/shared/StoreUnavailable.ts"
import { monotonicMs, monotonicNowMs } from "../../../domain/shared/Time.ts"
import { BaseUrl } from "../contract/BaseUrl.ts"
import { uncached } from "../contract/Endpoint.ts"
import { BadRequest, MethodNotAllowed, RequestTimedOut, RouteNotFound } from "./Failures.ts"
import { internalError, type Problem, problemOf, toAnswer } from "./Problems.ts"
import {
  annotateLogs,
  logProblems,
  makeAccessLog,
  makeMeter,
  makeProblemLog,
  makeTrace,
  noting
} from "./RequestTelemetry.ts"
import {
  documentRoute,
  type EncodedReply,
  type Failure,
  inOrder,
  type Next,
  type RequestClock,
  type RequestContext,
  type Route,
  UNMATCHED
} from "./Route.ts"
import { makeFairReads, makeReadCache } from "./Reads.ts"
import {
  decode,
  HttpSettings,
  makeAuthentication,
  makeLimits,
  makeRecordActions,
  makeReplay,
  makeTimeout,
  prepare
} from "./Stages.ts"
import {
  acceptableRequestId,
  acceptableTraceparent,
  addHeaders,
  cacheControl,
  clientAddress,
  crossOrigin,
  Draining,
  eventStarter,
  header,
  json,
  JSON_TYPE,
  OpenStreams,
  preflight,
  progressSender,
  varyOf,
  wantsPage,
  type WebRequest,
  type WebResponse
} from "./WebRequest.ts"

export class Dispatcher extends Context.Service<
  Dispatcher,
  {
    readonly baseUrl: string
    /** Never fails: every error becomes a response. */
    dispatch(request: WebRequest): Effect.Effect<WebResponse>
    /** Logs a problem that the server itself sent, before there was a request to dispatch. */
    logRejected(answer: WebResponse): Effect.Effect<void>
    /** The node that shuts down is not ready any more, so that load balancers send new requests elsewhere. */
    readonly beginDrain: Effect.Effect<void>
    /** Ends the streams that stay open when the node shuts down. */
    readonly endStreams: Effect.Effect<void>
    /** Waits until no forwarded call is in flight. Calls whose callers disconnected outlive their requests. */
    readonly idle: Effect.Effect<void>
    /** Cancels the calls in flight and waits for their settlement. */
    readonly cutOff: Effect.Effect<void>
  }
>()("agent-tool-billing/adapters/http/Dispatcher") {}

/** `missingPage`: the page for a browser that requests a path without a route. */
export const make = Effect.fnUntraced(function* (routes: ReadonlyArray<Route>, missingPage: EncodedReply | undefined) {
  const contextFor = yield* makeRequestContext(makeRouting(routes, missingPage))
  const logProblem = yield* makeProblemLog
  const limit = yield* makeLimits
  const { asRun, authenticate, authorize } = yield* makeAuthentication
  const respond = yield* makeRespond
  const { cancelAll: cutOff, idle } = yield* Metering
  const { endAll: endStreams } = yield* OpenStreams
  const { begin: beginDrain } = yield* Draining

  const handle = inOrder(
    [
      yield* makeTimeout,
      limit.byAddress,
      limit.wrongKeys,
      authenticate,
      authorize,
      limit.byKey,
      asRun,
      limit.registrations,
      makeFairReads(),
      yield* makeReadCache,
      decode,
      prepare,
      yield* makeReplay,
      yield* makeRecordActions
    ],
    (context) => context.route.answer(context)
  )
  const answer = inOrder(
    [annotateLogs, yield* makeMeter(routes), logProblems(logProblem), yield* makeTrace, yield* makeAccessLog],
    respond(handle)
  )

  return Dispatcher.of({
    baseUrl: yield* BaseUrl,
    dispatch: (request) => Effect.flatMap(contextFor(request), answer),
    logRejected: (rejection) =>
      noting(
        { request_id: rejection.headers["x-request-id"] ?? "-", method: UNMATCHED.method, route: UNMATCHED.path },
        Effect.flatMap(monotonicNowMs, (nowMs) => logProblem(rejection, nowMs))
      ),
    beginDrain,
    endStreams,
    idle,
    cutOff
  })
})

const makeRequestContext = Effect.fnUntraced(function* ({ find }: Routing) {
  const entropy = yield* Entropy
  const { trustedProxies: trusted } = yield* HttpSettings
  const clock = yield* Clock.Clock

  const contextOf = (request: WebRequest, requestId: string): RequestContext => {
    const { params, route } = find(request)
    const { method, path, rule } = route
    const traceparent = acceptableTraceparent(header(request, "traceparent"))
    const exposed = crossOrigin(header(request, "origin"))
    const headers = traceparent === undefined ? exposed : { ...exposed, traceparent }
    const startEvents = eventStarter(request, requestId, () => ({
      ...headers,
      ...context.limitHeaders,
      vary: varyOf(rule)
    }))
    const context: RequestContext = {
      request,
      route,
      pathParams: params,
      clientAddress: clientAddress(request, trusted),
      requestId,
      traceparent,
      startedMs: monotonicMs(clock),
      headers,
      notes: { request_id: requestId, method, route: path },
      sendEvent: progressSender(startEvents),
      startEvents,
      as: <R extends Role>(...roles: ReadonlyArray<R>) => callerAs(context, roles),
      clock: UNTIMED,
      limitHeaders: {},
      caller: undefined,
      params: undefined,
      query: undefined,
      payload: undefined,
      text: "",
      prepared: undefined,
      isReplay: false
    }
    return context
  }

  return (request: WebRequest): Effect.Effect<RequestContext> => {
    const given = acceptableRequestId(header(request, "x-request-id"))
    return given === undefined
      ? Effect.map(entropy.uuid, (requestId) => contextOf(request, requestId))
      : Effect.sync(() => contextOf(request, given))
  }
})

const UNTIMED: RequestClock = { pause: () => {}, restart: () => {}, registerDisconnect: () => {}, answer: () => {} }

const callerAs = <R extends Role>({ caller, route }: RequestContext, roles: ReadonlyArray<Role>) => {
  if (caller === undefined || !roles.includes(caller.role)) {
    const needed = roles.join(" or ")
    throw new Error(`${route.method} ${route.path} needs the role ${needed}, but its access rule admits others`)
  }
  return caller as Extract<Principal, { readonly role: R }>
}

// Finds the route of a request, or the response where there is none.

interface Found {
  readonly route: Route
  readonly params: Readonly<Record<string, string | undefined>>
}

interface Routing {
  /** A HEAD is handled as a GET. Without a route, returns one that says so. */
  find(request: WebRequest): Found
}

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const

/** `missingPage`: the page for a browser that requests a path without a route. */
export const makeRouting = (routes: ReadonlyArray<Route>, missingPage: EncodedReply | undefined): Routing => {
  const router = FindMyWay.make<Route>({
    ignoreTrailingSlash: true,
    ignoreDuplicateSlashes: false,
    caseSensitive: true
  })
  for (const route of routes) router.on(route.method as "GET", route.path as `/${string}`, route)

  const find = (method: string, path: string) =>
    METHODS.includes(method as "GET") && isWhole(path) ? router.find(method as "GET", path) : undefined

  const allowed = (path: string): ReadonlyArray<string> => {
    const methods = METHODS.filter((method) => find(method, path) !== undefined)
    return methods.includes("GET")
      ? ["GET", "HEAD", ...methods.filter((m) => m !== "GET"), "OPTIONS"]
      : [...methods, "OPTIONS"]
  }

  const unmatched = (request: WebRequest): Effect.Effect<EncodedReply, Failure> => {
    const { method, path } = request
    const allow = allowed(path)
    if (allow.length > 1 && method === "OPTIONS") return Effect.succeed(preflight(allow))
    const compatibility = find("POST", path)?.handler.compatibility
    if (compatibility !== undefined) return Effect.succeed(compatibility.otherMethods)
    if (allow.length > 1) return Effect.fail(new MethodNotAllowed({ method, path, allow }))
    return page !== undefined && routed(method) === "GET" && wantsPage(request) && !isForMachines(path)
      ? Effect.succeed(page)
      : Effect.fail(new RouteNotFound({ path }))
  }
  const page: EncodedReply | undefined = missingPage && {
    ...missingPage,
    headers: { ...missingPage.headers, "cache-control": "no-store", vary: "Accept, Origin" }
  }
  const noRoute: Found = {
    params: {},
    route: {
      ...documentRoute("/", uncached, Effect.die(new Error("Answered without its request"))),
      ...UNMATCHED,
      decodeQuery: undefined,
      answer: ({ request }) => unmatched(request)
    }
  }

  const latest = new Map(METHODS.map((method): [string, Map<string, Found>] => [method, new Map()]))

  const search = (method: string, path: string): Found => {
    const found = find(method, path)
    if (found === undefined) return noRoute
    const result = { route: found.handler, params: found.params }
    const known = latest.get(method)!
    if (known.size >= FOUND_MAX) known.clear()
    if (path.length <= FOUND_CHARS_MAX) known.set(path, result)
    return result
  }

  return {
    find: ({ method, path }) => latest.get(routed(method))?.get(path) ?? search(routed(method), path)
  }
}

/** Agents call the same few paths: to look one up takes a tenth of a search. */
const FOUND_MAX = 1_000
const FOUND_CHARS_MAX = 200

/**
 * MCP clients look for OAuth metadata in several places, and take a page for an authorization server that is broken: a client
 * with a key would then not use it.
 */
const isForMachines = (path: string): boolean => path.startsWith("/mcp/") || path.includes("/.well-known/")

const routed = (method: string): string => (method === "HEAD" ? "GET" : method)

/**
 * The router stops reading at `;` and `#`, so a proxy that guards a path would see another path than the router. `*`
 * addresses the server as a whole, and the router would take it for the root.
 */
const isWhole = (path: string): boolean => path !== "*" && !path.includes(";") && !path.includes("#")

// Turns the result of a request into its response: a reply, a problem for a rejection, or a problem for a defect.

const makeRespond = Effect.gen(function* () {
  const baseUrl = yield* BaseUrl
  const disk = yield* DiskWatch

  const problemAnswer = (context: RequestContext, problem: Problem): WebResponse =>
    withHeaders(context, toAnswer(problem, context.requestId, context.request.path, baseUrl))

  const rejected = (context: RequestContext, rejection: Failure): WebResponse => {
    const { compatibility: quirks } = context.route
    return quirks !== undefined && rejection instanceof BadRequest
      ? withHeaders(context, json(400, quirks.badRequest, { "cache-control": "no-store" }))
      : problemAnswer(context, problemOf(rejection, baseUrl, context.route.problems))
  }

  const failed = (context: RequestContext, cause: Cause.Cause<Failure>): Effect.Effect<WebResponse> => {
    if (storeFailuresIn(cause).length > 0) return storeFailed(context, cause)
    const rejection = errorIn(cause)
    if (rejection === undefined) return broken(context, cause)
    const answer = rejected(context, rejection)
    if (rejection instanceof SignerUnavailable) return Effect.as(Effect.logError(rejection.message, cause), answer)
    return rejection instanceof RequestTimedOut
      ? Effect.as(Effect.logWarning("A request was not answered in time"), answer)
      : Effect.succeed(answer)
  }

  const storeFailed = Effect.fnUntraced(function* (
    context: RequestContext,
    cause: Cause.Cause<Failure>
  ): Effect.fn.Return<WebResponse> {
    const failures = storeFailuresIn(cause)
    yield* Effect.logError("A request failed because the database is unavailable", failures[0]!.detail, cause)
    if (failures.some(({ reason }) => reason === "disk_full")) disk.rejected(yield* Clock.currentTimeMillis)
    return rejected(context, failures[0]!)
  })

  const broken = Effect.fnUntraced(function* (
    context: RequestContext,
    cause: Cause.Cause<Failure>
  ): Effect.fn.Return<WebResponse> {
    // The caller disconnected: there is no client to respond to.
    if (Cause.hasInterruptsOnly(cause)) return yield* Effect.interrupt
    yield* Effect.logError("A request ended in a defect", cause)
    return problemAnswer(context, internalError)
  })

  return (handle: Next): Next<WebResponse, never> =>
    (context) =>
      Effect.matchCauseEffect(handle(context), {
        onFailure: (cause) => failed(context, cause),
        onSuccess: (reply) => Effect.succeed(replied(context, reply))
      })
})

/** The typed failure, if it is the only reason. */
const errorIn = (cause: Cause.Cause<Failure>): Failure | undefined => {
  const [only, ...others] = cause.reasons
  return only?._tag === "Fail" && others.length === 0 ? only.error : undefined
}

/** Finds them among any reasons. One is a defect if some cleanup failed for the same reason. */
const storeFailuresIn = (cause: Cause.Cause<Failure>): ReadonlyArray<StoreUnavailable> =>
  cause.reasons
    .map((reason) => (reason._tag === "Fail" ? reason.error : reason._tag === "Die" ? reason.defect : undefined))
    .filter((failure) => failure instanceof StoreUnavailable)

const withHeaders = (context: RequestContext, answer: WebResponse): WebResponse =>
  addHeaders(answer, context.requestId, { ...context.headers, ...context.limitHeaders })

const replied = (context: RequestContext, { body, headers, status }: EncodedReply): WebResponse => {
  const { method, rule } = context.route
  return addHeaders({ status, headers, body }, context.requestId, {
    ...context.headers,
    ...context.limitHeaders,
    "cache-control": cacheControl(method, rule, context.caller),
    vary: varyOf(rule),
    ...(context.isReplay ? { "idempotent-replay": "true" } : undefined),
    ...(body.length === 0 ? undefined : JSON_TYPE)
  })
}

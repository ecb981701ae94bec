/**
 * One request from arrival to answer, in the order of the contract: address limit, key, role, key limit, parameters,
 * body, effect. Everything that the service serves passes here, so every answer keeps the same conventions.
 */
import { Cause, Clock, Context, Effect, Result } from "effect"
import { Authentication, OperatorKey, Unauthorized } from "../../../domain/accounts/Authentication.ts"
import type { Principal } from "../../../domain/accounts/Principal.ts"
import { Metering } from "../../../domain/metering/Metering.ts"
import { DiskWatch } from "../../../domain/platform/DiskWatch.ts"
import { Entropy } from "../../../domain/shared/Entropy.ts"
import { Idempotency } from "../../../domain/shared/Idempotency.ts"
import type { AccessRule } from "../api/Access.ts"
import { BaseUrl } from "../BaseUrl.ts"
import { clientAddress, type TrustedProxies } from "./ClientAddress.ts"
import { acceptableRequestId, acceptableTraceparent, cacheControl, crossOrigin, dress, varyOf } from "./Conventions.ts"
import { NotInTime, WrongRole } from "./Failures.ts"
import { isDatabaseAway, isDiskFull, refusalIn } from "./Endings.ts"
import { HttpMetrics, type RouteMeter } from "./HttpMetrics.ts"
import { idempotencyKey } from "./IdempotencyKey.ts"
import { internalError, problemOf, toAnswer, unavailable } from "./Problems.ts"
import type { Refusal } from "./Refusals.ts"
import { makeReadCache } from "./ReadCache.ts"
import { type LimitHeaders, RateLimits } from "./RateLimits.ts"
import { aboutRequest, makeRequestTraces, noting, type RequestNotes } from "./RequestNotes.ts"
import { makeProblemLog } from "./ProblemLog.ts"
import { parseJson, readText } from "./RequestBody.ts"
import { makeInTime, type RequestClock } from "./RequestTimeout.ts"
import type { EncodedReply, Route } from "./Route.ts"
import { type Found, makeRouting } from "./Routing.ts"
import { teller } from "./Telling.ts"
import { bearer, bearerFault, header, isBareKey, json, type WebAnswer, type WebRequest } from "./WebRequest.ts"

/** Whose forwarded-for headers are believed. */
export const TrustedProxyRanges = Context.Reference<TrustedProxies>(
  "agent-tool-billing/adapters/http/TrustedProxyRanges",
  { defaultValue: () => [] }
)

export class Dispatcher extends Context.Service<
  Dispatcher,
  {
    /** Never fails: whatever goes wrong is an answer. */
    dispatch(request: WebRequest): Effect.Effect<WebAnswer>
    /** Waits until no forwarded call is in flight: some outlive their requests, because their callers left. */
    readonly idle: Effect.Effect<void>
    /** For a server that stops: cancels the calls that are still in flight, and waits for their settlement. */
    readonly cutOff: Effect.Effect<void>
  }
>()("agent-tool-billing/adapters/http/Dispatcher") {}

/** `nothingHere`: what a browser is shown where there is no route. */
export const make = Effect.fnUntraced(function* (routes: ReadonlyArray<Route>, nothingHere: EncodedReply) {
  const authentication = yield* Authentication
  const limits = yield* RateLimits
  const idempotency = yield* Idempotency
  const { cutOff, idle } = yield* Metering
  const entropy = yield* Entropy
  const trusted = yield* TrustedProxyRanges
  const baseUrl = yield* BaseUrl
  const operatorKey = yield* OperatorKey
  const metrics = yield* HttpMetrics
  const disk = yield* DiskWatch
  const meters = new Map<Route, RouteMeter>()
  const cached = yield* makeReadCache
  const inTime = yield* makeInTime
  const maybeTraced = yield* makeRequestTraces
  const logProblem = yield* makeProblemLog
  const { find, unrouted } = makeRouting(routes, nothingHere, baseUrl)
  for (const route of routes) meters.set(route, metrics.meterOf(route.method, route.path))

  const authenticate = (
    request: WebRequest,
    { rule }: Route
  ): Effect.Effect<Principal | undefined, Unauthorized | WrongRole> => {
    const roles = rule.openWithoutOperator && operatorKey === undefined ? [] : rule.roles
    const credential = bearer(request)
    if (roles.length === 0 && !usesKey(rule)) return Effect.undefined
    if (credential === "") {
      // Whoever may come without a key is told only of a key that was sent wrongly.
      if (roles.length === 0 && !isBareKey(request)) return Effect.undefined
      return Effect.fail(new Unauthorized({ reason: bearerFault(request) ?? "missing" }))
    }
    return Effect.flatMap(authentication.authenticate(credential), (caller) =>
      roles.length > 0 && !roles.includes(caller.role)
        ? Effect.fail(new WrongRole({ role: caller.role, needed: roles }))
        : Effect.succeed(caller)
    )
  }

  const answerPublicRead = Effect.fnUntraced(function* (
    request: WebRequest,
    found: Found,
    address: string,
    notes: RequestNotes,
    clock: RequestClock
  ): Effect.fn.Return<EncodedReply, Refusal> {
    const route = found.handler
    return yield* route.answer({
      params: route.decodeParams === undefined ? undefined : yield* route.decodeParams(found.params),
      query: route.decodeQuery === undefined ? undefined : yield* route.decodeQuery(request.query),
      payload: undefined,
      caller: undefined,
      request,
      clientAddress: address,
      requestId: notes.request_id,
      notes,
      text: "",
      tell: undefined,
      clock
    })
  })

  const perform = Effect.fnUntraced(function* (
    request: WebRequest,
    found: Found,
    address: string,
    notes: RequestNotes,
    noted: { limit: LimitHeaders },
    extra: Readonly<Record<string, string>>,
    clock: RequestClock
  ): Effect.fn.Return<EncodedReply & { readonly replayed: boolean }, Refusal> {
    const route = found.handler
    if (!route.rule.unlimited) noted.limit = yield* limits.address(address)
    const caller = yield* authenticate(request, route)
    if (caller !== undefined) {
      if (caller.role !== "operator") notes.owner_id = caller.ownerId
      noted.limit = yield* limits.key(caller)
    }
    if (route.rule.registration) noted.limit = yield* limits.registration(address)
    if (route.rule.cacheable) {
      const read = answerPublicRead(request, found, address, notes, clock)
      return { ...(yield* cached(`${request.path}?${request.query}`, read)), replayed: false }
    }
    const params = route.decodeParams === undefined ? undefined : yield* route.decodeParams(found.params)
    const query = route.decodeQuery === undefined ? undefined : yield* route.decodeQuery(request.query)
    let text = ""
    if (route.takesBody) {
      clock.pause()
      text = yield* readText(request, route.body.bytesMax)
      clock.restart(0)
    }
    const payload = route.takesBody ? yield* route.decodePayload(yield* parseJson(text, route.body)) : undefined
    const answer = route.answer({
      params,
      query,
      payload,
      caller,
      request,
      clientAddress: address,
      requestId: notes.request_id,
      notes,
      text,
      tell: teller(request, notes.request_id, () => ({ ...extra, ...noted.limit, vary: varyOf(route.rule) })),
      clock
    })
    const key = route.rule.idempotent && !route.ownIdempotency ? yield* idempotencyKey(request) : undefined
    if (key === undefined) return { ...(yield* answer), replayed: false }
    const scope = caller === undefined ? `address:${address}` : `${caller.role}:${caller.ownerId}`
    const once = yield* idempotency.once(
      {
        scope,
        key,
        request: `${request.method} ${request.path}?${request.query}\n${text}`,
        isAnsweredOnce: route.rule.showsKey && caller === undefined
      },
      Effect.map(answer, (reply) => JSON.stringify(reply))
    )
    return { ...(JSON.parse(once.answer) as EncodedReply), replayed: once.replayed }
  })

  const dispatch = Effect.fnUntraced(function* (request: WebRequest): Effect.fn.Return<WebAnswer> {
    const startedMs = performance.now()
    const requestId = acceptableRequestId(header(request, "x-request-id")) ?? (yield* entropy.uuid)
    const traceparent = acceptableTraceparent(header(request, "traceparent"))
    const extra = headersFor(request, traceparent)
    const method = request.method === "HEAD" ? "GET" : request.method
    const found = find(method, request.path)
    const notes = aboutRequest(requestId, method, found?.handler.path)
    if (found === undefined) {
      const counted = yield* Effect.result(noting(notes, limits.address(clientAddress(request, trusted))))
      if (Result.isFailure(counted)) {
        const refused = toAnswer(problemOf(counted.failure, baseUrl), requestId, request.path, baseUrl)
        const problem = dress(refused, requestId, extra)
        yield* logProblem(notes, problem, startedMs)
        return told(startedMs, problem)
      }
      const answer = dress(unrouted(request, method, requestId), requestId, { ...extra, ...counted.success })
      if (answer.status >= 400) yield* logProblem(notes, answer, startedMs)
      return told(startedMs, answer)
    }
    const answer = yield* maybeTraced(notes, traceparent, answerFound(request, method, found, notes, extra))
    if (answer.status >= 400) yield* logProblem(notes, answer, startedMs)
    return told(startedMs, answer, meters.get(found.handler))
  })

  const answerFound = Effect.fnUntraced(function* (
    request: WebRequest,
    method: string,
    found: Found,
    notes: RequestNotes,
    extra: Readonly<Record<string, string>>
  ): Effect.fn.Return<WebAnswer> {
    const requestId = notes.request_id
    const noted: { limit: LimitHeaders } = { limit: {} }
    const address = clientAddress(request, trusted)
    const exit = yield* Effect.exit(
      noting(
        notes,
        inTime(
          (clock) => perform(request, found, address, notes, noted, extra, clock),
          () => new NotInTime({ kind: found.handler.late })
        )
      )
    )
    const refusal = exit._tag === "Failure" ? refusalIn(exit.cause) : undefined
    if (refusal?._tag === "NotInTime") {
      yield* noting(notes, Effect.logWarning("A request was not answered in time"))
    }
    if (exit._tag === "Failure" && refusal === undefined) {
      // A caller that went away interrupts; there is nobody left to answer.
      if (Cause.hasInterruptsOnly(exit.cause)) return yield* Effect.interrupt
      yield* noting(notes, Effect.logError("A request ended in a defect", exit.cause))
      if (isDiskFull(exit.cause)) disk.refusedAtMs = yield* Clock.currentTimeMillis
      const problem = exit.cause.reasons.some(isDatabaseAway) ? unavailable : internalError
      return dress(toAnswer(problem, requestId, request.path, baseUrl), requestId, { ...extra, ...noted.limit })
    }
    if (exit._tag === "Failure" || refusal !== undefined) {
      const quirks = found.handler.quirks
      if (quirks !== undefined && refusal!._tag === "BadRequest") {
        const bad = json(400, quirks.badRequest, { "cache-control": "no-store" })
        return dress(bad, requestId, { ...extra, ...noted.limit })
      }
      const answer = toAnswer(problemOf(refusal!, baseUrl), requestId, request.path, baseUrl)
      return dress(answer, requestId, { ...extra, ...noted.limit })
    }
    const reply = exit.value
    return dress(json(reply.status, reply.body, reply.headers), requestId, {
      ...extra,
      ...noted.limit,
      "cache-control": cacheControl(method, found.handler.rule),
      vary: varyOf(found.handler.rule),
      ...(reply.replayed ? { "idempotent-replay": "true" } : {})
    })
  })

  /** Counted on its way out. Whoever goes away before the answer is nobody's figure. */
  const told = (startedMs: number, answer: WebAnswer, meter = metrics.unmatched): WebAnswer => {
    meter.answered(answer.status, performance.now() - startedMs)
    return answer
  }

  return Dispatcher.of({ dispatch, idle, cutOff })
})

/** Of whoever may come without one: whether one that is sent means anything. */
const usesKey = (rule: AccessRule): boolean => rule.keyOptional || rule.idempotent || rule.openWithoutOperator

const headersFor = (request: WebRequest, traceparent: string | undefined): Readonly<Record<string, string>> => {
  const exposed = crossOrigin(header(request, "origin"))
  return traceparent === undefined ? exposed : { ...exposed, traceparent }
}

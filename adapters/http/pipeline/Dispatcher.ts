/**
 * Processes a request from arrival to response. All requests pass these stages, so that all responses follow the same
 * conventions.
 */
import { Context, Effect } from "effect"
import { Metering } from "../../../domain/metering/Metering.ts"
import { monotonicNowMs } from "../../../domain/shared/Time.ts"
import { BaseUrl } from "../contract/BaseUrl.ts"
import { makeAuthentication } from "./Authenticate.ts"
import { Draining, OpenStreams } from "./OpenStreams.ts"
import { makeLimits } from "./RateLimits.ts"
import { inOrder, makeRequestContext } from "./RequestContext.ts"
import {
  annotateLogs,
  logProblems,
  makeAccessLog,
  makeMeter,
  makeProblemLog,
  makeTrace,
  noting
} from "./RequestTelemetry.ts"
import type { EncodedReply, Route } from "./Route.ts"
import { makeRouting, UNMATCHED } from "./Routing.ts"
import {
  decode,
  makeFairReads,
  makeReadCache,
  makeRecordActions,
  makeReplay,
  makeRespond,
  makeTimeout,
  prepare
} from "./Stages.ts"
import type { WebRequest, WebResponse } from "./WebRequest.ts"

export class Dispatcher extends Context.Service<
  Dispatcher,
  {
    /** Of every link. */
    readonly baseUrl: string
    /** Never fails: every error becomes a response. */
    dispatch(request: WebRequest): Effect.Effect<WebResponse>
    /** Logs a problem that the server itself sent, before there was a request to dispatch. */
    logRejected(answer: WebResponse): Effect.Effect<void>
    /** For shutdown: the node is not ready any more, so that load balancers send new requests elsewhere. */
    readonly beginDrain: Effect.Effect<void>
    /** For shutdown: ends the streams that stay open. */
    readonly endStreams: Effect.Effect<void>
    /** Waits until no forwarded call is in flight. Calls whose callers disconnected outlive their requests. */
    readonly idle: Effect.Effect<void>
    /** For shutdown: cancels the calls in flight and waits for their settlement. */
    readonly cutOff: Effect.Effect<void>
  }
>()("agent-tool-billing/adapters/http/Dispatcher") {}

/** `missingPage`: the page for a browser that requests a path without a route. */
export const make = Effect.fnUntraced(function* (routes: ReadonlyArray<Route>, missingPage: EncodedReply | undefined) {
  const contextFor = yield* makeRequestContext(makeRouting(routes, missingPage))
  const logProblem = yield* makeProblemLog
  const limit = yield* makeLimits
  const { authenticate, authorize } = yield* makeAuthentication
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

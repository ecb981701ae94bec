/**
 * Telemetry of a request: annotations on its log lines, its metrics, and a trace for a sample of requests.
 */
import { Clock, Effect, References, Tracer } from "effect"
import { monotonicMs } from "../../../domain/shared/Time.ts"
import { traced, TraceSampler } from "../../../domain/shared/TraceSampler.ts"
import { HttpMetrics, type RouteMeter } from "./HttpMetrics.ts"
import type { RequestContext, Stage } from "./RequestContext.ts"
import type { RequestNotes, Route } from "./Route.ts"
import { UNMATCHED } from "./Routing.ts"
import type { WebResponse } from "./WebRequest.ts"

type Observer = Stage<WebResponse, never>

/** Every line logged meanwhile carries the notes as they are at that time. */
export const annotateLogs: Observer = (context, next) => noting(context.notes, next(context))

export const noting = <A, E>(notes: RequestNotes, work: Effect.Effect<A, E>): Effect.Effect<A, E> =>
  Effect.provideService(work, References.CurrentLogAnnotations, notes as unknown as Record<string, unknown>)

/** A request whose caller disconnects is not counted. */
export const makeMeter = (routes: ReadonlyArray<Route>) =>
  Effect.map(Effect.all([HttpMetrics, Clock.Clock]), ([metrics, clock]): Observer => {
    const meters = new Map<Route, RouteMeter>()
    for (const route of routes) meters.set(route, metrics.meterOf(route.method, route.path))
    return (context, next) => {
      const meter = meters.get(context.route) ?? metrics.unmatched
      return Effect.map(next(context), (answer) => {
        meter.answered(answer.status, monotonicMs(clock) - context.startedMs)
        return answer
      })
    }
  })

/** Continues the caller's trace. The sampler limits how many requests are traced, whatever callers ask for. */
export const makeTrace = Effect.map(TraceSampler, (sampler): Observer => (context, next) => {
  const { route, traceparent } = context
  const isTraced = route.path !== UNMATCHED.path && sampler.takes(traceparent !== undefined && isSampled(traceparent))
  return isTraced ? trace(context, next(context)) : next(context)
})

const trace = (context: RequestContext, work: Effect.Effect<WebResponse>): Effect.Effect<WebResponse> => {
  const { notes, traceparent } = context
  const told = Effect.tap(work, ({ status }) => {
    const { invocation_id, owner_id } = notes
    return Effect.annotateCurrentSpan({
      "http.response.status_code": status,
      ...(status >= 500 ? { "error.type": String(status) } : {}),
      ...(owner_id === undefined ? {} : { owner_id }),
      ...(invocation_id === undefined ? {} : { invocation_id })
    })
  })
  return traced(told, `${notes.method} ${notes.route}`, {
    kind: "server",
    attributes: { "http.request.method": notes.method, "http.route": notes.route, request_id: notes.request_id },
    ...(traceparent === undefined ? {} : { parent: parentOf(traceparent) })
  })
}

/** Validated before: version, trace, parent and flags, in hex. */
const parentOf = (traceparent: string): Tracer.ExternalSpan => {
  const [, traceId = "", spanId = ""] = traceparent.split("-")
  return Tracer.externalSpan({ traceId, spanId, sampled: true })
}

const isSampled = (traceparent: string): boolean => (Number.parseInt(traceparent.slice(-2), 16) & 1) === 1

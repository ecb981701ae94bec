/**
 * Operators see requests in metrics, traces, the access log and the lines of problems.
 */
import { Clock, Context, Effect, Fiber, Layer, References, Schedule, Tracer } from "effect"
import { type Durations, Histogram, ProcessTelemetry, traced, TraceSampler } from "../../../domain/shared/Telemetry.ts"
import { monotonicMs } from "../../../domain/shared/Time.ts"
import { type RequestContext, type RequestNotes, type Route, type Stage, UNMATCHED } from "./Route.ts"
import type { WebResponse } from "./WebRequest.ts"

const CLASSES = ["1xx", "2xx", "3xx", "4xx", "5xx"] as const

export class RouteMeter {
  readonly method: string
  readonly route: string
  /** Counts by status class. */
  readonly #answers = new Float64Array(CLASSES.length)
  readonly #durations = new Histogram()

  constructor(method: string, route: string) {
    this.method = method
    this.route = route
  }

  answered(status: number, ms: number): void {
    const statusClass = Math.min(5, Math.max(1, Math.floor(status / 100))) - 1
    this.#answers[statusClass]! += 1
    this.#durations.took(ms)
  }

  /** Classes with at least one response. */
  answers(): ReadonlyArray<{ readonly statusClass: string; readonly count: number }> {
    return CLASSES.flatMap((statusClass, n) => {
      const count = this.#answers[n]!
      return count === 0 ? [] : [{ statusClass, count }]
    })
  }

  latency(): Durations {
    return this.#durations.read()
  }
}

/**
 * Requests by route and status class, and their durations. Labels are routes and status classes of the contract, never text of a client.
 */
export class HttpMetrics extends Context.Service<
  HttpMetrics,
  {
    /** Makes the meter of a route once. */
    meterOf(method: string, route: string): RouteMeter
    readonly unmatched: RouteMeter
    read(): ReadonlyArray<RouteMeter>
  }
>()("agent-tool-billing/adapters/http/HttpMetrics") {
  static readonly layer = Layer.sync(HttpMetrics, () => {
    const unmatched = new RouteMeter("other", "unmatched")
    const meters = new Map<string, RouteMeter>()
    return HttpMetrics.of({
      meterOf: (method, route) => {
        const key = `${method} ${route}`
        const meter = meters.get(key) ?? new RouteMeter(method, route)
        meters.set(key, meter)
        return meter
      },
      unmatched,
      read: () => [...meters.values(), unmatched].filter((meter) => meter.latency().count > 0)
    })
  })
}

// Telemetry of a request: annotations on its log lines, its metrics, and a trace for a sample of requests.

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
  const measured = Effect.tap(work, ({ status }) => {
    const { invocation_id, owner_id } = notes
    return Effect.annotateCurrentSpan({
      "http.response.status_code": status,
      ...(status >= 500 ? { "error.type": String(status) } : {}),
      ...(owner_id === undefined ? {} : { owner_id }),
      ...(invocation_id === undefined ? {} : { invocation_id })
    })
  })
  return traced(measured, `${notes.method} ${notes.route}`, {
    kind: "server",
    attributes: { "http.request.method": notes.method, "http.route": notes.route, request_id: notes.request_id },
    ...(traceparent === undefined ? {} : { parent: parentOf(traceparent) })
  })
}

/** The text was validated before: version, trace, parent and flags, in hex. */
const parentOf = (traceparent: string): Tracer.ExternalSpan => {
  const [, traceId = "", spanId = ""] = traceparent.split("-")
  return Tracer.externalSpan({ traceId, spanId, sampled: true })
}

const isSampled = (traceparent: string): boolean => (Number.parseInt(traceparent.slice(-2), 16) & 1) === 1

// The access log: an INFO line for a sample of requests and for each traced one, with status and duration. The annotations
// of the request name it, its route and its account. Responses with a problem have a line of their own: `ProblemLog`.

/** Runs inside of the request's span, which its line names. */
export const makeAccessLog = Effect.map(
  Effect.all([ProcessTelemetry, Clock.Clock]),
  ([{ accessLog: sampler }, clock]): Stage<WebResponse, never> => {
    if (sampler === undefined) return (context, next) => next(context)
    const log = (status: number, startedMs: number) =>
      Effect.annotateLogs(Effect.logInfo("A request was answered"), {
        status,
        duration_ms: Math.round((monotonicMs(clock) - startedMs) * 1_000) / 1_000
      })
    return (context, next) =>
      Effect.flatMap(next(context), (answer) =>
        Effect.withFiber((fiber) => {
          const isTraced = fiber.getRef(References.TracerEnabled)
          const isDue = isTraced || (answer.status < 400 && sampler.takes(false))
          return isDue ? Effect.as(log(answer.status, context.startedMs), answer) : Effect.succeed(answer)
        })
      )
  }
)

export const LINES_PER_SECOND_MAX = 10
export const FAILURES_PER_SECOND_MAX = 100
const WINDOW = "1 second"
/** The code of a problem is within this many characters. */
const CODE_CHARS_MAX = 2_000

/**
 * An INFO line for every 4xx or 5xx response: in each second the first ten with 4xx, which any client can cause, the first
 * hundred with 5xx, and a count of the others. It contains only words of the contract, never paths or values of clients.
 */
export type ProblemLog = (answer: WebResponse, startedMs: number) => Effect.Effect<void>

export const makeProblemLog = Effect.gen(function* () {
  let logged = 0
  let failures = 0
  let unlogged = 0
  const clock = yield* Clock.Clock
  const context = yield* Effect.context<never>()
  const run = Effect.runForkWith(context)

  const nextWindow = Effect.suspend(() => {
    const [more, isOver] = [unlogged, logged + failures === 0]
    logged = 0
    failures = 0
    unlogged = 0
    if (more === 0) return Effect.succeed(isOver)
    const line = Effect.logInfo(`${more} more requests were answered with 4xx or 5xx in that second`)
    return Effect.as(Effect.annotateLogs(line, { requests: more }), false)
  })
  /** Runs until a second passes without a problem. */
  const windows = Effect.repeat(Effect.delay(nextWindow, WINDOW), {
    until: (isOver) => isOver,
    schedule: Schedule.forever
  })
  let isCounting = false
  let counting: Fiber.Fiber<unknown> | undefined
  yield* Effect.addFinalizer(() => (counting === undefined ? Effect.void : Fiber.interrupt(counting)))

  const isDue = (status: number): boolean => {
    if (!isCounting) {
      isCounting = true
      counting = run(Effect.andThen(windows, () => Effect.sync(() => (isCounting = false))))
    }
    if (status >= 500 && failures < FAILURES_PER_SECOND_MAX) failures++
    else if (status < 500 && logged < LINES_PER_SECOND_MAX) logged++
    else {
      unlogged++
      return false
    }
    return true
  }

  const logProblem: ProblemLog = (answer, startedMs) =>
    isDue(answer.status)
      ? Effect.annotateLogs(Effect.logInfo("A request was answered with a problem"), {
          status: answer.status,
          code: codeOf(answer),
          duration_ms: Math.round(monotonicMs(clock) - startedMs)
        })
      : Effect.void
  return logProblem
})

export const logProblems =
  (logProblem: ProblemLog): Stage<WebResponse, never> =>
  (context, next) =>
    Effect.flatMap(next(context), (answer) =>
      answer.status < 400 ? Effect.succeed(answer) : Effect.as(logProblem(answer, context.startedMs), answer)
    )

const codeOf = ({ body }: WebResponse): string =>
  typeof body === "string" ? (/"code":"([A-Z_]{1,40})"/u.exec(body.slice(0, CODE_CHARS_MAX))?.[1] ?? "-") : "-"

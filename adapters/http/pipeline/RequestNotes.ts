/**
 * What is known of a request for those who watch: it stands beside every line that is logged while the request is worked
 * on, and on its trace. Ids and what the contract names, never a key or what a client wrote.
 */
import { Effect, References, Tracer } from "effect"
import { traced, TraceSampler } from "../../../domain/shared/TraceSampler.ts"
import type { WebAnswer } from "./WebRequest.ts"

/** Filled in on the way. Its fields have the names under which they are logged. */
export interface RequestNotes {
  readonly request_id: string
  readonly method: string
  readonly route: string
  /** Whose key it came with. */
  owner_id?: string
  /** The call's, under which its receipt is found. */
  invocation_id?: string
}

/** In words of the contract: whatever else a client calls a method or a path stays out. */
export const aboutRequest = (requestId: string, method: string, route: string | undefined): RequestNotes =>
  route === undefined
    ? { request_id: requestId, method: "other", route: "unmatched" }
    : { request_id: requestId, method, route }

/** Whatever is logged meanwhile carries them as they then stand. */
export const noting = <A, E, R>(notes: RequestNotes, work: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.provideService(work, References.CurrentLogAnnotations, notes as unknown as Record<string, unknown>)

/**
 * Traces one request in many; the others pass by untouched. A trace of the caller's own is gone on with, and a caller that
 * asks to be sampled may be: the sampler says how many are.
 */
export const makeRequestTraces = Effect.map(
  TraceSampler,
  (sampler) =>
    (notes: RequestNotes, traceparent: string | undefined, work: Effect.Effect<WebAnswer>): Effect.Effect<WebAnswer> =>
      sampler.takes(traceparent !== undefined && isSampled(traceparent)) ? follow(notes, traceparent, work) : work
)

const follow = (
  notes: RequestNotes,
  traceparent: string | undefined,
  work: Effect.Effect<WebAnswer>
): Effect.Effect<WebAnswer> => {
  const startedMs = performance.now()
  const told = Effect.tap(work, ({ status }) => {
    const { invocation_id, owner_id } = notes
    const tookMs = Math.round((performance.now() - startedMs) * 1_000) / 1_000
    return Effect.annotateCurrentSpan({
      "http.response.status_code": status,
      ...(status >= 500 ? { "error.type": String(status) } : {}),
      ...(owner_id === undefined ? {} : { owner_id }),
      ...(invocation_id === undefined ? {} : { invocation_id })
    }).pipe(
      Effect.andThen(Effect.annotateLogs(Effect.logInfo("A request was answered"), { status, duration_ms: tookMs })),
      (telling) => noting(notes, telling)
    )
  })
  return traced(told, `${notes.method} ${notes.route}`, {
    kind: "server",
    attributes: { "http.request.method": notes.method, "http.route": notes.route, request_id: notes.request_id },
    ...(traceparent === undefined ? {} : { parent: parentOf(traceparent) })
  })
}

/** It was checked before: version, trace, parent and flags, in hex. */
const parentOf = (traceparent: string): Tracer.ExternalSpan => {
  const [, traceId = "", spanId = ""] = traceparent.split("-")
  return Tracer.externalSpan({ traceId, spanId, sampled: true })
}

const isSampled = (traceparent: string): boolean => (Number.parseInt(traceparent.slice(-2), 16) & 1) === 1

/**
 * Which pieces of work are traced. None unless somebody provides a sampler: tracing costs more than most of what it would
 * show, so it is switched on for one piece of work and stays off for all others.
 */
import { Context, Effect, type Fiber, References, Tracer } from "effect"

export interface TraceSampler {
  /** `asked`: whoever sent the work wishes it to be traced. It is a wish: a sampler bounds how many come true. */
  takes(asked: boolean): boolean
}

export const TraceSampler = Context.Reference<TraceSampler>("agent-tool-billing/domain/shared/TraceSampler", {
  defaultValue: () => ({ takes: () => false })
})

/** A trace of its own for this piece of work, whatever the fiber around it is traced as. */
export const traced = <A, E, R>(
  work: Effect.Effect<A, E, R>,
  name: string,
  options: Tracer.SpanOptionsNoTrace = {}
): Effect.Effect<A, E, Exclude<R, Tracer.ParentSpan>> =>
  Effect.withSpan(work, name, { root: options.parent === undefined, sampled: true, ...options }).pipe(
    Effect.withTracerEnabled(true)
  )

/**
 * A step of a piece of work: a span where that is traced, and nothing at all where it is not. Effect's own switch leaves
 * 10 µs for each span that nobody sees.
 */
export const step = <A, E, R>(work: Effect.Effect<A, E, R>, name: string): Effect.Effect<A, E, R> =>
  Effect.withFiber((fiber) =>
    fiber.getRef(References.TracerEnabled) && Context.getOrUndefined(fiber.context, Tracer.ParentSpan) !== undefined
      ? (Effect.withSpan(work, name, { captureStackTrace: false }) as Effect.Effect<A, E, R>)
      : work
  )

/**
 * W3C `traceparent` of the span that this fiber works under, to hand on to whoever is asked next; undefined where it is not
 * traced. Nothing else of what a caller sent goes along.
 */
export const traceparentOf = (fiber: Fiber.Fiber<unknown, unknown>): string | undefined => {
  if (!fiber.getRef(References.TracerEnabled)) return undefined
  const span = Context.getOrUndefined(fiber.context, Tracer.ParentSpan)
  return span?.sampled === true ? `00-${span.traceId}-${span.spanId}-01` : undefined
}

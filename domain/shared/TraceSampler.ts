/**
 * Decides what is traced: nothing unless a sampler is provided. Tracing is expensive, so it is switched on for one request
 * or job and stays off for others.
 */
import { Context, Effect, References, Tracer } from "effect"

export interface TraceSampler {
  /** `requested`: the caller requests a trace. The sampler bounds how many requests it grants. */
  takes(requested: boolean): boolean
}

/** The sampler of a service. Default: nothing is traced. */
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
 * 10 µs for each disabled span.
 */
export const step = <A, E, R>(work: Effect.Effect<A, E, R>, name: string): Effect.Effect<A, E, R> =>
  Effect.withFiber((fiber) =>
    fiber.getRef(References.TracerEnabled) && Context.getOrUndefined(fiber.context, Tracer.ParentSpan) !== undefined
      ? (Effect.withSpan(work, name, { captureStackTrace: false }) as Effect.Effect<A, E, R>)
      : work
  )

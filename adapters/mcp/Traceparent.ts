/**
 * The W3C `traceparent` that a provider gets of a traced call.
 */
import { Context, Fiber, References, Tracer } from "effect"

/** Of the span that the running fiber works under; undefined where it is not traced. */
export const currentTraceparent = (): string | undefined => {
  const fiber = Fiber.getCurrent()
  if (fiber === undefined || !fiber.getRef(References.TracerEnabled)) return undefined
  const span = Context.getOrUndefined(fiber.context, Tracer.ParentSpan)
  return span?.sampled === true ? `00-${span.traceId}-${span.spanId}-01` : undefined
}

/**
 * Runs what a route asks of other systems before its unit of work begins.
 */
import { Effect } from "effect"
import type { Stage } from "./RequestContext.ts"

export const prepare: Stage = (context, next) => {
  const { route } = context
  if (route.prepare === undefined) return next(context)
  return Effect.flatMap(route.prepare(context), (prepared) => {
    context.prepared = prepared
    return next(context)
  })
}

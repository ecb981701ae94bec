/**
 * Rate limits, in the order of their checks: by address, by key, and by address for registrations.
 */
import { Effect } from "effect"
import type { RateLimited } from "../Failures.ts"
import { type LimitHeaders, RateLimits } from "../RateLimits.ts"
import type { Next, RequestContext, Stage } from "../RequestContext.ts"
import type { EncodedReply } from "../Route.ts"
import type { HandlerError } from "../HandlerErrors.ts"

export const makeLimits = Effect.map(RateLimits, (limits) => {
  const byAddress: Stage = (context, next) =>
    context.route.rule.unlimited ? next(context) : limit(limits.address(context.clientAddress), context, next)

  const byKey: Stage = (context, next) =>
    context.caller === undefined ? next(context) : limit(limits.key(context.caller), context, next)

  const registrations: Stage = (context, next) =>
    context.route.rule.registration ? limit(limits.registration(context.clientAddress), context, next) : next(context)

  return { byAddress, byKey, registrations }
})

/** The response carries the headers of the limit that was checked last. */
const limit = (
  checked: Effect.Effect<LimitHeaders, RateLimited>,
  context: RequestContext,
  next: Next
): Effect.Effect<EncodedReply, HandlerError> =>
  Effect.flatMap(checked, (headers) => {
    context.limitHeaders = headers
    return next(context)
  })

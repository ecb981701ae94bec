/**
 * `X-Max-Cost-Microcents`: the maximum cost that the caller accepts for this call, for clients that cannot change the body.
 */
import { Effect } from "effect"
import { type Microcents, MICROCENTS_MAX } from "../../../domain/shared/Microcents.ts"
import { BadRequest } from "./Failures.ts"
import { header, type WebRequest } from "./WebRequest.ts"

export const CAP_HEADER = "X-Max-Cost-Microcents"

export const capHeader = (request: WebRequest): Effect.Effect<Microcents | undefined, BadRequest> => {
  const text = header(request, "x-max-cost-microcents")
  const cap = text !== undefined && /^\d{1,16}$/u.test(text) ? BigInt(text) : undefined
  return text === undefined || (cap !== undefined && cap <= MICROCENTS_MAX)
    ? Effect.succeed(cap as Microcents | undefined)
    : Effect.fail(new BadRequest({ reason: `${CAP_HEADER} must be an integer between 0 and ${MICROCENTS_MAX}.` }))
}

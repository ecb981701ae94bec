/**
 * Turns the result of a request into its response: a reply, a problem for a rejection, or a problem for a defect.
 */
import { Cause, Clock, Effect } from "effect"
import { DiskWatch } from "../../../domain/platform/Health.ts"
import { StoreUnavailable } from "../../../domain/shared/StoreUnavailable.ts"
import { BaseUrl } from "../contract/BaseUrl.ts"
import { addHeaders, cacheControl, varyOf } from "./Conventions.ts"
import type { HandlerError } from "./HandlerErrors.ts"
import type { Problem } from "./ProblemTable.ts"
import { internalError, problemOf, toAnswer } from "./Problems.ts"
import type { Next, RequestContext } from "./RequestContext.ts"
import type { EncodedReply } from "./Route.ts"
import { json, type WebResponse } from "./WebRequest.ts"

export const makeRespond = Effect.gen(function* () {
  const baseUrl = yield* BaseUrl
  const disk = yield* DiskWatch

  const problemAnswer = (context: RequestContext, problem: Problem): WebResponse =>
    withHeaders(context, toAnswer(problem, context.requestId, context.request.path, baseUrl))

  const rejected = (context: RequestContext, rejection: HandlerError): WebResponse => {
    const { compatibility: quirks } = context.route
    return quirks !== undefined && rejection._tag === "BadRequest"
      ? withHeaders(context, json(400, quirks.badRequest, { "cache-control": "no-store" }))
      : problemAnswer(context, problemOf(rejection, baseUrl))
  }

  const failed = (context: RequestContext, cause: Cause.Cause<HandlerError>): Effect.Effect<WebResponse> => {
    if (storeFailuresIn(cause).length > 0) return storeFailed(context, cause)
    const rejection = errorIn(cause)
    if (rejection === undefined) return broken(context, cause)
    const answer = rejected(context, rejection)
    if (rejection._tag === "SignerUnavailable") return Effect.as(Effect.logError(rejection.message, cause), answer)
    return rejection._tag === "RequestTimedOut"
      ? Effect.as(Effect.logWarning("A request was not answered in time"), answer)
      : Effect.succeed(answer)
  }

  const storeFailed = Effect.fnUntraced(function* (
    context: RequestContext,
    cause: Cause.Cause<HandlerError>
  ): Effect.fn.Return<WebResponse> {
    const failures = storeFailuresIn(cause)
    yield* Effect.logError("A request failed because the database is unavailable", failures[0]!.detail, cause)
    if (failures.some(({ reason }) => reason === "disk_full")) disk.rejected(yield* Clock.currentTimeMillis)
    return rejected(context, failures[0]!)
  })

  const broken = Effect.fnUntraced(function* (
    context: RequestContext,
    cause: Cause.Cause<HandlerError>
  ): Effect.fn.Return<WebResponse> {
    // The caller disconnected: there is no client to respond to.
    if (Cause.hasInterruptsOnly(cause)) return yield* Effect.interrupt
    yield* Effect.logError("A request ended in a defect", cause)
    return problemAnswer(context, internalError)
  })

  return (handle: Next): Next<WebResponse, never> =>
    (context) =>
      Effect.matchCauseEffect(handle(context), {
        onFailure: (cause) => failed(context, cause),
        onSuccess: (reply) => Effect.succeed(replied(context, reply))
      })
})

/** The typed failure, if it is the only reason. */
const errorIn = (cause: Cause.Cause<HandlerError>): HandlerError | undefined => {
  const [only, ...others] = cause.reasons
  return only?._tag === "Fail" && others.length === 0 ? only.error : undefined
}

/** Among any reasons. A defect if some cleanup failed for the same reason. */
const storeFailuresIn = (cause: Cause.Cause<HandlerError>): ReadonlyArray<StoreUnavailable> =>
  cause.reasons
    .map((reason) => (reason._tag === "Fail" ? reason.error : reason._tag === "Die" ? reason.defect : undefined))
    .filter((failure) => failure instanceof StoreUnavailable)

const withHeaders = (context: RequestContext, answer: WebResponse): WebResponse =>
  addHeaders(answer, context.requestId, { ...context.headers, ...context.limitHeaders })

const replied = (context: RequestContext, { body, headers, status }: EncodedReply): WebResponse => {
  const { rule } = context.route
  const answer = body.length === 0 ? { status, headers, body } : json(status, body, headers)
  return addHeaders(answer, context.requestId, {
    ...context.headers,
    ...context.limitHeaders,
    "cache-control": cacheControl(context.route.method, rule, context.caller),
    vary: varyOf(rule),
    ...(context.isReplay ? { "idempotent-replay": "true" } : undefined)
  })
}

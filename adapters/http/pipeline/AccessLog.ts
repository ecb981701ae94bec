/**
 * The access log: an INFO line for a sample of requests and for each traced one, with status and duration. The annotations
 * of the request name it, its route and its account. Responses with a problem have a line of their own: `ProblemLog.ts`.
 */
import { Clock, Context, Effect, References } from "effect"
import { monotonicMs } from "../../../domain/shared/Time.ts"
import type { TraceSampler } from "../../../domain/shared/TraceSampler.ts"
import type { Stage } from "./RequestContext.ts"
import type { WebResponse } from "./WebRequest.ts"

/** Decides which requests are logged. Undefined: none, as in an app that embeds the service and has a log of its own. */
export const AccessSampler = Context.Reference<TraceSampler | undefined>(
  "agent-tool-billing/adapters/http/AccessSampler",
  { defaultValue: () => undefined }
)

/** Inside of the request's span, which its line names. */
export const makeAccessLog = Effect.map(
  Effect.all([AccessSampler, Clock.Clock]),
  ([sampler, clock]): Stage<WebResponse, never> => {
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

/**
 * A request with an Idempotency-Key is executed once; a repetition gets the stored response.
 */
import { Effect } from "effect"
import { Idempotency } from "../../../domain/shared/Idempotency.ts"
import { idempotencyKey } from "./WebRequest.ts"
import type { RequestContext, Stage } from "./RequestContext.ts"
import type { EncodedReply } from "./Route.ts"

export const makeReplay = Effect.map(Idempotency, ({ once }): Stage => {
  const onceFor = (context: RequestContext, key: string) => {
    const { caller, request, route, text } = context
    return {
      scope: caller === undefined ? `address:${context.clientAddress}` : `${caller.role}:${caller.ownerId}`,
      key,
      request: `${request.method} ${request.path}?${request.query}\n${text}`,
      isShownOnce: route.rule.showsKey && caller === undefined
    }
  }

  return (context, next) => {
    const { ownIdempotency, rule } = context.route
    if (!rule.idempotent || ownIdempotency) return next(context)
    return Effect.flatMap(idempotencyKey(context.request), (key) => {
      if (key === undefined) return next(context)
      const done = once(
        onceFor(context, key),
        Effect.map(next(context), (reply) => JSON.stringify(reply))
      )
      return Effect.map(done, ({ answer, replayed }) => {
        context.isReplay = replayed
        return JSON.parse(answer) as EncodedReply
      })
    })
  }
})

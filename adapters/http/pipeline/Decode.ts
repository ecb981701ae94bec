/**
 * Decodes path, query and body by the endpoint's schemas.
 */
import { Effect } from "effect"
import { LONG_TEXT_CHARS_MIN, ownTurn } from "../../../domain/shared/OwnTurn.ts"
import { parseJson, readText } from "./RequestBody.ts"
import type { Next, RequestContext, Stage } from "./RequestContext.ts"
import type { EncodedReply } from "./Route.ts"
import type { HandlerError } from "./HandlerErrors.ts"

export const decode: Stage = (context, next) => {
  const { decodeParams, decodeQuery, takesBody } = context.route
  return takesBody || decodeParams !== undefined || decodeQuery !== undefined
    ? decodeParts(context, next)
    : next(context)
}

const decodeParts = Effect.fnUntraced(function* (
  context: RequestContext,
  next: Next
): Effect.fn.Return<EncodedReply, HandlerError> {
  const { clock, pathParams, request, route } = context
  if (route.decodeParams !== undefined) context.params = yield* route.decodeParams(pathParams)
  if (route.decodeQuery !== undefined) context.query = yield* route.decodeQuery(request.query)
  if (route.takesBody) {
    // Sending the body has its own time limit.
    clock.pause()
    context.text = yield* readText(request, route.body.bytesMax)
    clock.restart(0)
    const body = yield* parseJson(context.text, route.body)
    if (context.text.length >= LONG_TEXT_CHARS_MIN) yield* ownTurn
    context.payload = yield* route.decodePayload(body)
  }
  return yield* next(context)
})

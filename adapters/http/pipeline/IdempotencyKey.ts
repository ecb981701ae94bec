/**
 * The `Idempotency-Key` header of a request.
 */
import { Effect } from "effect"
import { IDEMPOTENCY_KEY_CHARS_MAX } from "../../../domain/shared/Idempotency.ts"
import { BadRequest } from "./Failures.ts"
import { header, type WebRequest } from "./WebRequest.ts"

export const idempotencyKey = (request: WebRequest): Effect.Effect<string | undefined, BadRequest> => {
  const key = header(request, "idempotency-key")
  return key === undefined || (key !== "" && key.length <= IDEMPOTENCY_KEY_CHARS_MAX)
    ? Effect.succeed(key)
    : Effect.fail(new BadRequest({ reason: `Idempotency-Key must have 1 to ${IDEMPOTENCY_KEY_CHARS_MAX} characters.` }))
}

/**
 * The header that makes a POST safe to send again.
 */
import { Schema } from "effect"
import { IDEMPOTENCY_KEY_CHARS_MAX } from "../../../domain/shared/Idempotency.ts"

export const idempotencyHeader = {
  "idempotency-key": Schema.optionalKey(
    Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(IDEMPOTENCY_KEY_CHARS_MAX)).annotate({
      description:
        "Same key and body: the stored answer again, with `Idempotent-Replay: true`, and nothing is done " +
        "twice. Same key, another body: 409. A registration without an API key is not repeated: 409."
    })
  )
}

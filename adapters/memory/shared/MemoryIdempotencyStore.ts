/**
 * Idempotency keys in memory. Units of work run one at a time, so no request sees a key that is in use.
 */
import { DateTime, Effect, Layer } from "effect"
import { type IdempotencyClaim, IdempotencyInFlight, IdempotencyStore } from "../../../domain/shared/Idempotency.ts"
import { prune } from "./MemoryRows.ts"
import { put } from "./MemoryUnitOfWork.ts"

const RETRY_AFTER_SECONDS = 1

interface Row {
  readonly requestHash: string
  readonly sealedAnswer: string | undefined
  readonly at: DateTime.Utc
}

export const layer = Layer.sync(IdempotencyStore, () => {
  const rows = new Map<string, Row>()
  return IdempotencyStore.of({
    claim: Effect.fnUntraced(function* ({ at, keyHash, requestHash, scope }: IdempotencyClaim) {
      const known = rows.get(keyOf(scope, keyHash))
      if (known === undefined) {
        yield* put(rows, keyOf(scope, keyHash), { requestHash, sealedAnswer: undefined, at })
        return { _tag: "Claimed" }
      }
      if (known.sealedAnswer === undefined) {
        return yield* new IdempotencyInFlight({ retryAfterSeconds: RETRY_AFTER_SECONDS })
      }
      return { _tag: "Known", requestHash: known.requestHash, sealedAnswer: known.sealedAnswer }
    }),

    complete: (scope, keyHash, sealedAnswer) =>
      Effect.suspend(() => {
        const claimed = rows.get(keyOf(scope, keyHash))
        return claimed === undefined
          ? Effect.die(new Error("Cannot store the response: its idempotency key was not claimed"))
          : put(rows, keyOf(scope, keyHash), { ...claimed, sealedAnswer })
      }),

    prune: (before, limit) => prune(rows, ({ at }) => DateTime.isLessThan(at, before), limit)
  })
})

const keyOf = (scope: string, keyHash: string): string => `${scope}\n${keyHash}`

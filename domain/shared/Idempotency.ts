/**
 * Once per key: the effect and the record of its answer are one unit of work. Same key and request: the stored answer,
 * and nothing is done again. Same key, another request: a conflict. A failure leaves the key free.
 */
import { Context, DateTime, Effect, Layer, Option, Schema } from "effect"
import { Digest } from "./Digest.ts"
import { type IdempotencyInFlight, IdempotencyStore } from "./IdempotencyStore.ts"
import { Sealer } from "./Sealer.ts"
import { UnitOfWork } from "./UnitOfWork.ts"

export const IDEMPOTENCY_KEY_CHARS_MAX = 255
export const IDEMPOTENCY_DAYS_KEPT = 30

export class IdempotencyConflict extends Schema.TaggedError<IdempotencyConflict>()("IdempotencyConflict", {}) {
  override get message() {
    return "This Idempotency-Key was used with another request before. Take a new key for a new request."
  }
}

export interface IdempotentRequest {
  readonly scope: string
  readonly key: string
  /** All that makes this request differ from another one: method, path and body. */
  readonly request: string
}

export interface Once {
  readonly answer: string
  readonly replayed: boolean
}

export class Idempotency extends Context.Service<
  Idempotency,
  {
    once<E, R>(
      request: IdempotentRequest,
      effect: Effect.Effect<string, E, R>
    ): Effect.Effect<Once, E | IdempotencyConflict | IdempotencyInFlight, R>
  }
>()("agent-tool-billing/domain/shared/Idempotency") {
  static readonly layer = Layer.effect(
    Idempotency,
    Effect.gen(function* () {
      const store = yield* IdempotencyStore
      const sealer = yield* Sealer
      const { sha256Hex } = yield* Digest
      const { atomically } = yield* UnitOfWork

      const once = Effect.fn("Idempotency.once")(function* <E, R>(
        request: IdempotentRequest,
        effect: Effect.Effect<string, E, R>
      ) {
        const keyHash = sha256Hex(`${request.scope}\n${request.key}`)
        const requestHash = sha256Hex(request.request)
        const claimed = yield* store.claim({ scope: request.scope, keyHash, requestHash, at: yield* DateTime.now })
        if (claimed._tag === "Known") {
          if (claimed.requestHash !== requestHash) return yield* new IdempotencyConflict()
          const answer = sealer.open(claimed.sealedAnswer, keyHash)
          // Sealed with a secret that was taken away since: the key is used up, its answer cannot be shown again.
          if (Option.isNone(answer)) return yield* new IdempotencyConflict()
          return { answer: answer.value, replayed: true }
        }
        const answer = yield* effect
        yield* store.complete(request.scope, keyHash, sealer.seal(answer, keyHash))
        return { answer, replayed: false }
      }, atomically)

      return Idempotency.of({ once })
    })
  )
}

/**
 * Runs an operation once per key: the effect and the record of its response are one unit of work. Same key and request:
 * the stored response. Same key, another request: a conflict. A failure leaves the key free.
 */
import { Context, DateTime, Effect, Layer, Option, Schema } from "effect"
import { Digest, Sealer } from "./Cryptography.ts"
import { type StoreUnavailable, UnitOfWork } from "./StoreUnavailable.ts"
import { inSeconds } from "./Time.ts"

/** A key that is about to be used, and the request that it stands for, both as hashes. */
export interface IdempotencyClaim {
  /** Only this caller may replay the response. */
  readonly scope: string
  readonly keyHash: string
  readonly requestHash: string
  readonly at: DateTime.Utc
}

/** The caller runs the request, or gets the response that is stored for its key. */
export type ClaimResult =
  | { readonly _tag: "Claimed" }
  | { readonly _tag: "Known"; readonly requestHash: string; readonly sealedAnswer: string }

/** Another request with this key is in progress, and the wait for it has ended. */
export class IdempotencyInFlight extends Schema.TaggedError<IdempotencyInFlight>()("IdempotencyInFlight", {
  retryAfterSeconds: Schema.Int
}) {
  override get message() {
    return `A request with this idempotency key is still in flight. Retry after ${inSeconds(this.retryAfterSeconds)}.`
  }
}

/** Port to the responses of idempotent requests. */
export class IdempotencyStore extends Context.Service<
  IdempotencyStore,
  {
    /**
     * Claims the key in a unit of work, or returns its record. While another unit of work holds the key, waits for its
     * end, bounded. If the unit of work fails, the key is free again.
     */
    claim(claim: IdempotencyClaim): Effect.Effect<ClaimResult, IdempotencyInFlight | StoreUnavailable>
    /** Stores the response in the same unit of work, once it is known. */
    complete(scope: string, keyHash: string, sealedAnswer: string): Effect.Effect<void, StoreUnavailable>
    /** Removes at most `limit` keys claimed before; returns how many. */
    prune(before: DateTime.Utc, limit: number): Effect.Effect<number, StoreUnavailable>
  }
>()("agent-tool-billing/domain/shared/IdempotencyStore") {}

export const IDEMPOTENCY_KEY_CHARS_MAX = 255
export const IDEMPOTENCY_DAYS_KEPT = 30

/** The key was used for another request, or stands for a response that was shown once only. */
export class IdempotencyConflict extends Schema.TaggedError<IdempotencyConflict>()("IdempotencyConflict", {
  /** `answered_once`: the response contained a secret, and the caller cannot be identified. */
  reason: Schema.Literals(["other_request", "answered_once"])
}) {
  override get message() {
    return messages[this.reason]
  }
}

const messages = {
  other_request: "This idempotency key was used with another request. Use a new key for a new request.",
  answered_once:
    "This idempotency key was used from your address. Nothing was created: the first response contained an API key, which " +
    "is shown once. Send a new idempotency key to register another account."
}

/** A request with the key under which it runs once. Keys of different scopes do not meet. */
export interface IdempotentRequest {
  readonly scope: string
  readonly key: string
  /** Everything that distinguishes this request: method, path and body. */
  readonly request: string
  /** The response is not stored: a repetition fails. */
  readonly isShownOnce?: boolean
}

/** The response of a request that ran once: from this run, or stored by the first one. */
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
    ): Effect.Effect<Once, E | IdempotencyConflict | IdempotencyInFlight | StoreUnavailable, R>
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
          if (request.isShownOnce === true) return yield* new IdempotencyConflict({ reason: "answered_once" })
          if (claimed.requestHash !== requestHash) return yield* new IdempotencyConflict({ reason: "other_request" })
          const answer = sealer.open(claimed.sealedAnswer, keyHash)
          // Encrypted with a secret that was removed since: the key is used, but its response cannot be decrypted.
          if (Option.isNone(answer)) return yield* new IdempotencyConflict({ reason: "other_request" })
          return { answer: answer.value, replayed: true }
        }
        const answer = yield* effect
        yield* store.complete(request.scope, keyHash, sealer.seal(request.isShownOnce === true ? "" : answer, keyHash))
        return { answer, replayed: false }
      }, atomically)

      return Idempotency.of({ once })
    })
  )
}

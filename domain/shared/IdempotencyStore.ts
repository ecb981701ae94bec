/**
 * Where the answers to requests with an idempotency key are kept.
 */
import { Context, type DateTime, type Effect, Schema } from "effect"

export interface IdempotencyClaim {
  /** Who may replay: nobody sees another caller's answers. */
  readonly scope: string
  readonly keyHash: string
  readonly requestHash: string
  readonly at: DateTime.Utc
}

export type ClaimResult =
  | { readonly _tag: "Claimed" }
  | { readonly _tag: "Known"; readonly requestHash: string; readonly sealedAnswer: string }

/** Another request with this key is being worked on, and was so for as long as one may wait. */
export class IdempotencyInFlight extends Schema.TaggedError<IdempotencyInFlight>()("IdempotencyInFlight", {
  retryAfterSeconds: Schema.Int
}) {
  override get message() {
    return `A request with this Idempotency-Key is still being worked on. Send it again in ${this.retryAfterSeconds} s.`
  }
}

export class IdempotencyStore extends Context.Service<
  IdempotencyStore,
  {
    /**
     * Inside a unit of work: takes the key, or says what it was taken for. While another unit of work holds the key,
     * waits for its end, bounded. If the unit of work fails, the key is free again.
     */
    claim(claim: IdempotencyClaim): Effect.Effect<ClaimResult, IdempotencyInFlight>
    /** In the same unit of work, once the answer is known. */
    complete(scope: string, keyHash: string, sealedAnswer: string): Effect.Effect<void>
    /** Forgets at most `limit` keys taken before; says how many. */
    prune(before: DateTime.Utc, limit: number): Effect.Effect<number>
  }
>()("agent-tool-billing/domain/shared/IdempotencyStore") {}

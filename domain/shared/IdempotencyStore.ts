/**
 * Port to the responses of idempotent requests.
 */
import { Context, type DateTime, type Effect, Schema } from "effect"
import type { StoreUnavailable } from "./StoreUnavailable.ts"

/** A key that is about to be used, and the request that it stands for, both as hashes. */
export interface IdempotencyClaim {
  /** Only this caller may replay the response. */
  readonly scope: string
  readonly keyHash: string
  readonly requestHash: string
  readonly at: DateTime.Utc
}

/** Whether the caller runs the request, or gets the response that is stored for its key. */
export type ClaimResult =
  | { readonly _tag: "Claimed" }
  | { readonly _tag: "Known"; readonly requestHash: string; readonly sealedAnswer: string }

/** Another request with this key is in progress, and the wait for it has ended. */
export class IdempotencyInFlight extends Schema.TaggedError<IdempotencyInFlight>()("IdempotencyInFlight", {
  retryAfterSeconds: Schema.Int
}) {
  override get message() {
    return `A request with this Idempotency-Key is still in progress. Retry after ${this.retryAfterSeconds} seconds.`
  }
}

export class IdempotencyStore extends Context.Service<
  IdempotencyStore,
  {
    /**
     * In a unit of work: claims the key, or returns its record. While another unit of work holds the key, waits for its
     * end, bounded. If the unit of work fails, the key is free again.
     */
    claim(claim: IdempotencyClaim): Effect.Effect<ClaimResult, IdempotencyInFlight | StoreUnavailable>
    /** In the same unit of work, once the response is known. */
    complete(scope: string, keyHash: string, sealedAnswer: string): Effect.Effect<void, StoreUnavailable>
    /** Removes at most `limit` keys claimed before; returns how many. */
    prune(before: DateTime.Utc, limit: number): Effect.Effect<number, StoreUnavailable>
  }
>()("agent-tool-billing/domain/shared/IdempotencyStore") {}

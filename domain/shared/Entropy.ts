/**
 * Randomness for ids and secrets: a cryptographic source in every profile.
 */
import { Context, type Effect } from "effect"

export class Entropy extends Context.Service<
  Entropy,
  {
    /** A version 7 UUID, ordered by the time of the Clock. */
    readonly uuid: Effect.Effect<string>
    /** `byteCount` random bytes in lowercase hex. */
    hex(byteCount: number): Effect.Effect<string>
  }
>()("agent-tool-billing/domain/shared/Entropy") {}

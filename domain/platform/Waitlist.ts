/**
 * Email addresses for news about the platform. Each address is on the list once.
 */
import { Context, DateTime, Effect, Layer } from "effect"
import { Entropy } from "../shared/Entropy.ts"
import { WaitlistStore } from "./WaitlistStore.ts"
import type { StoreUnavailable } from "../shared/StoreUnavailable.ts"

export const WAITLIST_SOURCE_CHARS_MAX = 200

export class Waitlist extends Context.Service<
  Waitlist,
  {
    /** The new entry's id; undefined if the address was on the list. */
    join(email: string, source: string): Effect.Effect<string | undefined, StoreUnavailable>
  }
>()("agent-tool-billing/domain/platform/Waitlist") {
  static readonly layer = Layer.effect(
    Waitlist,
    Effect.gen(function* () {
      const store = yield* WaitlistStore
      const entropy = yield* Entropy
      return Waitlist.of({
        join: Effect.fn("Waitlist.join")(function* (email: string, source: string) {
          const id = yield* entropy.uuid
          return (yield* store.add({ id, email, source, joinedAt: yield* DateTime.now })) ? id : undefined
        })
      })
    })
  )
}

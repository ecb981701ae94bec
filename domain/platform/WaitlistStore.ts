/**
 * Where the waitlist is kept.
 */
import { Context, type DateTime, type Effect, type Option } from "effect"

export interface WaitlistEntry {
  readonly id: string
  /** In the one form that an address is compared in: trimmed, lower case. */
  readonly email: string
  readonly source: string
  readonly joinedAt: DateTime.Utc
}

export class WaitlistStore extends Context.Service<
  WaitlistStore,
  {
    /** False where the address is on the list already: the first entry stays as it is. */
    add(entry: WaitlistEntry): Effect.Effect<boolean>
    find(email: string): Effect.Effect<Option.Option<WaitlistEntry>>
    /** The entry stays, and counts; whose it was is gone. False where there is none. */
    erase(email: string): Effect.Effect<boolean>
    /** Entries from `since` on; all of them where there is none. */
    count(since?: DateTime.Utc): Effect.Effect<number>
  }
>()("agent-tool-billing/domain/platform/WaitlistStore") {}

/**
 * Port to the waitlist, which has each address once.
 */
import { Context, type DateTime, type Effect, type Option } from "effect"
import type { StoreUnavailable } from "../shared/StoreUnavailable.ts"

/** An address to tell when there is news, and where its owner heard of the service. */
export interface WaitlistEntry {
  readonly id: string
  /** Normalized: trimmed, lower case. */
  readonly email: string
  readonly source: string
  readonly joinedAt: DateTime.Utc
}

export class WaitlistStore extends Context.Service<
  WaitlistStore,
  {
    /** False if the address is on the list: the first entry stays. */
    add(entry: WaitlistEntry): Effect.Effect<boolean, StoreUnavailable>
    find(email: string): Effect.Effect<Option.Option<WaitlistEntry>, StoreUnavailable>
    /** The entry stays and counts, without its address. False if there is none. */
    erase(email: string): Effect.Effect<boolean, StoreUnavailable>
    /** Entries from `since` on; all without it. */
    count(since?: DateTime.Utc): Effect.Effect<number, StoreUnavailable>
  }
>()("agent-tool-billing/domain/platform/WaitlistStore") {}

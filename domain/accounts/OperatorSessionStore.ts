/**
 * Port to the operator's sessions, by a hash of their token and of the operator's key.
 */
import { Context, type DateTime, type Effect, type Option, Schema } from "effect"
import { Uuid } from "../shared/Ids.ts"
import type { StoreUnavailable } from "../shared/StoreUnavailable.ts"

/** Identifies a session without revealing its token. It is a UUID, ordered by time. */
export const OperatorSessionId = Uuid.pipe(Schema.brand("OperatorSessionId"))
export type OperatorSessionId = typeof OperatorSessionId.Type

/** Who signed in, and until when. */
export interface OperatorSession {
  readonly id: OperatorSessionId
  /** The name that was given at the sign-in. */
  readonly name: string
  readonly createdAt: DateTime.Utc
  readonly expiresAt: DateTime.Utc
  readonly lastUsedAt: DateTime.Utc
}

/** Sessions that were not used since `idleSince`, or have expired at `now`, do not count. */
export interface SessionTimes {
  readonly now: DateTime.Utc
  readonly idleSince: DateTime.Utc
}

export class OperatorSessionStore extends Context.Service<
  OperatorSessionStore,
  {
    /** Removes the oldest ones beyond `liveMax`. */
    insert(session: OperatorSession, hash: string, liveMax: number): Effect.Effect<void, StoreUnavailable>
    /** The session with this hash, now used at `now`. */
    use(hash: string, times: SessionTimes): Effect.Effect<Option.Option<OperatorSession>, StoreUnavailable>
    /** False if there is none. */
    end(id: OperatorSessionId): Effect.Effect<boolean, StoreUnavailable>
    /** Returns how many there were. */
    readonly endAll: Effect.Effect<number, StoreUnavailable>
    /** Removes expired and unused ones; returns their number. */
    prune(times: SessionTimes, limit: number): Effect.Effect<number, StoreUnavailable>
  }
>()("agent-tool-billing/domain/accounts/OperatorSessionStore") {}

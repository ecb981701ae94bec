/**
 * Port to the state of the store itself.
 */
import { Context, type Effect } from "effect"
import type { StoreUnavailable } from "../shared/StoreUnavailable.ts"

/** How many connections of the service are in one state, such as `idle in transaction`. */
export interface StoreConnections {
  readonly state: string
  readonly count: number
}

/** Pending work in the store, for any node. */
export interface StoreBacklog {
  /** Calls that are held and not settled. */
  readonly openCalls: number
  /** Of these, calls that the sweeper should have ended. */
  readonly overdueCalls: number
  readonly heldMicrocents: bigint
  /** Receipts that are not in the log yet, counted up to `BACKLOG_COUNTED_MAX`. */
  readonly unloggedReceipts: number
  /** Acknowledged calls that the store lost, and that no operator has reviewed. */
  readonly lostCalls: number
}

/** Counting further would slow down a store that is slow already. */
export const BACKLOG_COUNTED_MAX = 100_000

export class StoreWatch extends Context.Service<
  StoreWatch,
  {
    /** A query that only a working store answers. Returns what operators should know of it, in a sentence. */
    readonly ping: Effect.Effect<string | undefined, StoreUnavailable>
    /** The service's connections as the store sees them, of every node; none for a store without connections. */
    readonly connections: Effect.Effect<ReadonlyArray<StoreConnections>, StoreUnavailable>
    readonly backlog: Effect.Effect<StoreBacklog, StoreUnavailable>
  }
>()("agent-tool-billing/domain/platform/StoreWatch") {}

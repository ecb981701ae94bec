/**
 * The port to the store's own well-being.
 */
import { Context, type Effect } from "effect"

export interface StoreConnections {
  readonly state: string
  readonly count: number
}

/** What waits in the store to be done, by any node. */
export interface StoreBacklog {
  /** Calls that are held and not settled. */
  readonly openCalls: number
  /** Of them, those that the sweeper should have ended. */
  readonly overdueCalls: number
  readonly heldMicrocents: bigint
  /** Receipts that have no place in the log yet, counted to `BACKLOG_COUNTED_MAX`. */
  readonly unloggedReceipts: number
}

/** Counting further would only slow down what is slow already. */
export const BACKLOG_COUNTED_MAX = 100_000

export class StoreWatch extends Context.Service<
  StoreWatch,
  {
    /** A question that only a working store answers. Returns what operators should know of it, in a sentence. */
    readonly ping: Effect.Effect<string | undefined>
    /** The service's connections as the store sees them, those of every node; none where there is nothing to connect to. */
    readonly connections: Effect.Effect<ReadonlyArray<StoreConnections>>
    readonly backlog: Effect.Effect<StoreBacklog>
  }
>()("agent-tool-billing/domain/platform/StoreWatch") {}

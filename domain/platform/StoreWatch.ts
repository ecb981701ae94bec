/**
 * The port to the store's own well-being.
 */
import { Context, type Effect } from "effect"

export interface StoreConnections {
  readonly state: string
  readonly count: number
}

export class StoreWatch extends Context.Service<
  StoreWatch,
  {
    /** A question that only a working store answers. */
    readonly ping: Effect.Effect<void>
    /** The service's connections as the store sees them, those of every node; none where there is nothing to connect to. */
    readonly connections: Effect.Effect<ReadonlyArray<StoreConnections>>
  }
>()("agent-tool-billing/domain/platform/StoreWatch") {}

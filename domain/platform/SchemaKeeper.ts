/**
 * Port to the schema of the stores. A store without a schema is at version 0.
 */
import { Context, type Effect } from "effect"
import type { StoreUnavailable } from "../shared/StoreUnavailable.ts"

export interface SchemaState {
  readonly version: number
  /** The version of this release. */
  readonly expected: number
}

export interface SchemaUpdate {
  /** The migrations applied now, by name. */
  readonly applied: ReadonlyArray<string>
  readonly version: number
  readonly tables: ReadonlyArray<string>
}

export class SchemaKeeper extends Context.Service<
  SchemaKeeper,
  {
    readonly state: Effect.Effect<SchemaState, StoreUnavailable>
    /** Idempotent, also concurrently. */
    readonly bringUpToDate: Effect.Effect<SchemaUpdate, StoreUnavailable>
  }
>()("agent-tool-billing/domain/platform/SchemaKeeper") {}

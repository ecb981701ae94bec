/**
 * Port to the schema of the stores. A store without a schema is at version 0.
 */
import { Context, type Effect } from "effect"
import type { StoreUnavailable } from "../shared/StoreUnavailable.ts"

/** Which migration a database is at. A node serves only the version that it expects. */
export interface SchemaState {
  readonly version: number
  /** The version of this release. */
  readonly expected: number
}

/** What bringing the schema up to date did, and the tables that exist now. */
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

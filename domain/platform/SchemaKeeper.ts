/**
 * The port to the schema that the stores stand on. A store without a schema is at version 0 and wants no other.
 */
import { Context, type Effect } from "effect"

export interface SchemaStanding {
  readonly version: number
  /** What this release was written for. */
  readonly expected: number
}

export interface SchemaUpdate {
  /** What was applied now, by name. */
  readonly applied: ReadonlyArray<string>
  readonly version: number
  readonly tables: ReadonlyArray<string>
}

export class SchemaKeeper extends Context.Service<
  SchemaKeeper,
  {
    readonly standing: Effect.Effect<SchemaStanding>
    /** Again, or from two sides at once: whatever is there already is left alone. */
    readonly bringUpToDate: Effect.Effect<SchemaUpdate>
  }
>()("agent-tool-billing/domain/platform/SchemaKeeper") {}

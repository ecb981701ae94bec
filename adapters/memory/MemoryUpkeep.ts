/**
 * What there is to look after in memory: nothing. There is no schema, and what is asked is answered.
 */
import { Effect, Layer } from "effect"
import { SchemaKeeper } from "../../domain/platform/SchemaKeeper.ts"
import { StoreWatch } from "../../domain/platform/StoreWatch.ts"

const keeper = Layer.succeed(SchemaKeeper, {
  standing: Effect.succeed({ version: 0, expected: 0 }),
  bringUpToDate: Effect.succeed({ applied: [], version: 0, tables: [] })
})

const watch = Layer.succeed(StoreWatch, { ping: Effect.void, connections: Effect.succeed([]) })

export const layer = Layer.merge(keeper, watch)

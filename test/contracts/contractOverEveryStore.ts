/**
 * Every store over memory and PostgreSQL, for contracts of the testing kit.
 */
import { Clock, Layer } from "effect"
import * as PostgresCallStore from "../../adapters/sql/metering/PostgresCallStore.ts"
import { memoryProfile } from "../../src/layers/MemoryStores.ts"
import { storesOfCommands } from "../../src/layers/PostgresStores.ts"
import type { Contract } from "../../testing/contracts/shared/Contract.ts"
import { overBoth, PostgresTest } from "../support/servers/PostgresTest.ts"
import { contractOver } from "./contractOver.ts"

export const postgresStores = Layer.orDie(Layer.merge(storesOfCommands, PostgresCallStore.layer)).pipe(
  // The connection of the change feed needs the time of the machine.
  Layer.provide(Layer.succeed(Clock.Clock, Clock.Clock.defaultValue())),
  Layer.provideMerge(PostgresTest.layer)
)

type EveryStore = Extract<Layer.Success<typeof memoryProfile>, Layer.Success<typeof postgresStores>>

export const contractOverEveryStore = (port: string, contract: Contract<EveryStore>) => {
  for (const [name, stores] of overBoth<Layer.Layer<EveryStore>, Layer.Layer<EveryStore>>(
    memoryProfile,
    postgresStores
  ))
    contractOver(`${port} over ${name}`, contract, stores)
}

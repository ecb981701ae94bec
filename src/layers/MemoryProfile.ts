/**
 * The stores of the profile `memory`: those of the core, and what only a whole service stores.
 */
import { type Context, Layer } from "effect"
import * as MemoryTaskStore from "../../adapters/memory/tasks/MemoryTaskStore.ts"
import { TaskStore } from "../../domain/tasks/CallTask.ts"
import { Books } from "./Books.ts"
import { memoryStores } from "./MemoryStores.ts"

export const memoryProfile = Layer.merge(memoryStores, MemoryTaskStore.layer)

/** Given ports. Beside given stores of the core, tasks are stored in memory, unless their store is given too. */
export const withTaskStore = (given: Context.Context<never>): Layer.Layer<never> =>
  given.mapUnsafe.has(Books.key) && !given.mapUnsafe.has(TaskStore.key)
    ? (Layer.merge(Layer.succeedContext(given), MemoryTaskStore.layer) as Layer.Layer<never>)
    : Layer.succeedContext(given)

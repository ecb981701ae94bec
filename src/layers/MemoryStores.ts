/**
 * Every port on plain Maps: the whole service with no database, gone when it ends.
 */
import { Layer } from "effect"
import * as MemoryAccountStore from "../../adapters/memory/MemoryAccountStore.ts"
import * as MemoryCatalogStore from "../../adapters/memory/MemoryCatalogStore.ts"
import * as MemoryChangeFeed from "../../adapters/memory/MemoryChangeFeed.ts"
import * as MemoryIdempotencyStore from "../../adapters/memory/MemoryIdempotencyStore.ts"
import * as MemoryKeyStore from "../../adapters/memory/MemoryKeyStore.ts"
import * as MemoryMarketFigures from "../../adapters/memory/MemoryMarketFigures.ts"
import { MemoryTables } from "../../adapters/memory/MemoryTables.ts"
import * as MemoryUnitOfWork from "../../adapters/memory/MemoryUnitOfWork.ts"

export const memoryStores = Layer.mergeAll(
  MemoryAccountStore.layer,
  MemoryCatalogStore.layer,
  MemoryChangeFeed.layer,
  MemoryIdempotencyStore.layer,
  MemoryKeyStore.layer,
  MemoryMarketFigures.layer,
  MemoryUnitOfWork.layer
).pipe(Layer.provide(MemoryTables.layer))

/**
 * What the stores tell of themselves, and their schema, in memory and on PostgreSQL.
 */
import { Layer } from "effect"
import * as PostgresUpkeep from "../../../adapters/sql/platform/PostgresUpkeep.ts"
import { latestVersion } from "../../../migrations/index.ts"
import { migrateSchema } from "../../../src/layers/Database.ts"
import { memoryStores } from "../../../src/layers/MemoryStores.ts"
import { schemaKeeperContract } from "../../../testing/contracts/catalog/SchemaKeeperContract.ts"
import { storeWatchContract } from "../../../testing/contracts/platform/StoreWatchContract.ts"
import { contractOver } from "../../contracts/contractOver.ts"
import { postgresStores } from "../../contracts/contractOverEveryStore.ts"

const onPostgres = Layer.provideMerge(PostgresUpkeep.layer({ latestVersion, run: migrateSchema({}) }), postgresStores)

contractOver("StoreWatch over memory", storeWatchContract, memoryStores)
contractOver("StoreWatch over PostgreSQL", storeWatchContract, onPostgres)
contractOver("SchemaKeeper over memory", schemaKeeperContract, memoryStores)
contractOver("SchemaKeeper over PostgreSQL", schemaKeeperContract, onPostgres)

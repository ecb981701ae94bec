import { Layer } from "effect"
import * as PostgresPlatformStores from "../../../adapters/sql/platform/PostgresPlatformStores.ts"
import * as PostgresUnitOfWork from "../../../adapters/sql/shared/PostgresUnitOfWork.ts"
import { memoryStores } from "../../../src/layers/MemoryStores.ts"
import { healthHistoryStoreContract } from "../../../testing/contracts/platform/HealthHistoryStoreContract.ts"
import { contractOver } from "../../contracts/contractOver.ts"
import { PostgresTest } from "../../support/servers/PostgresTest.ts"

const postgres = Layer.merge(PostgresPlatformStores.layer, PostgresUnitOfWork.layer).pipe(
  Layer.provideMerge(PostgresTest.layer)
)

contractOver("HealthHistoryStore over memory", healthHistoryStoreContract, memoryStores)
contractOver("HealthHistoryStore over PostgreSQL", healthHistoryStoreContract, postgres)

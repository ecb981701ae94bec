import { Layer } from "effect"
import * as PostgresHealthHistoryStore from "../../../adapters/sql/platform/PostgresHealthHistoryStore.ts"
import * as PostgresUnitOfWork from "../../../adapters/sql/shared/PostgresUnitOfWork.ts"
import { memoryStores } from "../../../src/layers/MemoryStores.ts"
import { healthHistoryStoreContract } from "../../../testing/contracts/platform/HealthHistoryStoreContract.ts"
import { contractOver } from "../../contracts/contractOver.ts"
import { PostgresTest } from "../../support/servers/PostgresTest.ts"

const postgres = Layer.merge(PostgresHealthHistoryStore.layer, PostgresUnitOfWork.layer).pipe(
  Layer.provideMerge(PostgresTest.layer)
)

contractOver("HealthHistoryStore over memory", healthHistoryStoreContract, memoryStores)
contractOver("HealthHistoryStore over PostgreSQL", healthHistoryStoreContract, postgres)

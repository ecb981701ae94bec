import { Layer } from "effect"
import * as NodeEntropy from "../../adapters/crypto/NodeEntropy.ts"
import * as PostgresAccountStore from "../../adapters/sql/accounts/PostgresAccountStore.ts"
import * as PostgresChargebackStore from "../../adapters/sql/payments/PostgresChargebackStore.ts"
import * as PostgresLoadStore from "../../adapters/sql/payments/PostgresLoadStore.ts"
import * as PostgresUnitOfWork from "../../adapters/sql/shared/PostgresUnitOfWork.ts"
import * as PostgresWithdrawalStore from "../../adapters/sql/payments/PostgresWithdrawalStore.ts"
import { memoryStores } from "../../src/layers/MemoryStores.ts"
import { withdrawalContract } from "../contracts/withdrawals.ts"
import { PostgresTest } from "../support/PostgresTest.ts"

withdrawalContract("memory", Layer.mergeAll(memoryStores, NodeEntropy.layer))
withdrawalContract(
  "PostgreSQL",
  Layer.mergeAll(
    PostgresAccountStore.layer,
    PostgresChargebackStore.layer,
    PostgresLoadStore.layer,
    PostgresUnitOfWork.layer,
    PostgresWithdrawalStore.layer,
    NodeEntropy.layer
  ).pipe(Layer.provideMerge(PostgresTest.layer))
)

import { Layer } from "effect"
import * as MemoryBudgetStore from "../../adapters/memory/ledger/MemoryBudgetStore.ts"
import * as NodeEntropy from "../../adapters/crypto/NodeEntropy.ts"
import * as MemoryCallStore from "../../adapters/memory/metering/MemoryCallStore.ts"
import * as MemoryFreezeStore from "../../adapters/memory/payments/MemoryFreezeStore.ts"
import { MemoryLedger } from "../../adapters/memory/ledger/MemoryLedger.ts"
import * as MemoryLedgerStore from "../../adapters/memory/ledger/MemoryLedgerStore.ts"
import * as MemoryUnitOfWork from "../../adapters/memory/shared/MemoryUnitOfWork.ts"
import * as PostgresFreezeStore from "../../adapters/sql/payments/PostgresFreezeStore.ts"
import { Ledger } from "../../domain/ledger/Ledger.ts"
import { freezesContract } from "../contracts/freezes.ts"
import { postgresLedgerNode } from "../contracts/ledgerPorts.ts"
import { PostgresTest } from "../support/PostgresTest.ts"

freezesContract(
  "memory",
  Ledger.layer.pipe(
    Layer.provideMerge(
      Layer.mergeAll(
        MemoryBudgetStore.layer,
        MemoryCallStore.layer,
        MemoryFreezeStore.layer,
        MemoryLedgerStore.layer,
        MemoryUnitOfWork.layer,
        NodeEntropy.layer
      ).pipe(Layer.provide(MemoryLedger.layer))
    )
  )
)

freezesContract(
  "PostgreSQL",
  Layer.merge(postgresLedgerNode, PostgresFreezeStore.layer).pipe(Layer.provideMerge(PostgresTest.layer))
)

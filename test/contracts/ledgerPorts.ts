/**
 * Ports of calls, ledger and budgets over memory and PostgreSQL.
 */
import { Layer } from "effect"
import * as NodeEntropy from "../../adapters/crypto/NodeEntropy.ts"
import { MemoryLedger } from "../../adapters/memory/ledger/MemoryLedger.ts"
import * as MemoryLedgerStores from "../../adapters/memory/ledger/MemoryLedgerStores.ts"
import * as MemoryCallStore from "../../adapters/memory/metering/MemoryCallStore.ts"
import * as MemoryUnitOfWork from "../../adapters/memory/shared/MemoryUnitOfWork.ts"
import * as PostgresBudgetStore from "../../adapters/sql/ledger/PostgresBudgetStore.ts"
import * as PostgresLedgerStore from "../../adapters/sql/ledger/PostgresLedgerStore.ts"
import * as PostgresCallStore from "../../adapters/sql/metering/PostgresCallStore.ts"
import * as PostgresUnitOfWork from "../../adapters/sql/shared/PostgresUnitOfWork.ts"
import type { BudgetStore } from "../../domain/ledger/Budgets.ts"
import { Ledger } from "../../domain/ledger/Ledger.ts"
import type { LedgerStore } from "../../domain/ledger/LedgerStore.ts"
import type { CallStore } from "../../domain/metering/CallStore.ts"
import type { Entropy } from "../../domain/shared/Cryptography.ts"
import type { UnitOfWork } from "../../domain/shared/StoreUnavailable.ts"
import { overBoth, PostgresTest } from "../support/servers/PostgresTest.ts"

export type LedgerPorts = BudgetStore | CallStore | Entropy | Ledger | LedgerStore | UnitOfWork

export const memoryLedgerPorts: Layer.Layer<LedgerPorts> = Ledger.layer.pipe(
  Layer.provideMerge(
    Layer.mergeAll(MemoryLedgerStores.layer, MemoryCallStore.layer, MemoryUnitOfWork.layer, NodeEntropy.layer).pipe(
      Layer.provide(MemoryLedger.layer)
    )
  )
)

/** The ports of one node; a second build is a second node on the same database. */
export const postgresLedgerNode = Ledger.layer.pipe(
  Layer.provideMerge(
    Layer.mergeAll(
      PostgresBudgetStore.layer,
      PostgresCallStore.layer,
      PostgresLedgerStore.layer,
      PostgresUnitOfWork.layer,
      NodeEntropy.layer
    )
  )
)

export const postgresLedgerPorts = postgresLedgerNode.pipe(Layer.provideMerge(PostgresTest.layer))

export const everyLedger = overBoth<Layer.Layer<LedgerPorts>, Layer.Layer<LedgerPorts>>(
  memoryLedgerPorts,
  postgresLedgerPorts
)

/**
 * Every store on plain Maps: the whole service without a database, until the process ends.
 */
import { type Context, Layer } from "effect"
import * as MemoryAccountStores from "../../adapters/memory/accounts/MemoryAccountStores.ts"
import * as MemoryCatalogStores from "../../adapters/memory/catalog/MemoryCatalogStores.ts"
import * as MemoryEarningsStores from "../../adapters/memory/earnings/MemoryEarningsStores.ts"
import * as MemoryInvoiceStore from "../../adapters/memory/invoices/MemoryInvoiceStore.ts"
import { MemoryLedger } from "../../adapters/memory/ledger/MemoryLedger.ts"
import * as MemoryLedgerStores from "../../adapters/memory/ledger/MemoryLedgerStores.ts"
import * as MemoryLogStore from "../../adapters/memory/log/MemoryLogStore.ts"
import * as MemoryMcpStores from "../../adapters/memory/mcp/MemoryMcpStores.ts"
import * as MemoryCallStore from "../../adapters/memory/metering/MemoryCallStore.ts"
import * as MemoryMeteringStores from "../../adapters/memory/metering/MemoryMeteringStores.ts"
import * as MemoryOperatorStores from "../../adapters/memory/operator/MemoryOperatorStores.ts"
import * as MemoryPaymentStores from "../../adapters/memory/payments/MemoryPaymentStores.ts"
import * as MemoryPlatformStores from "../../adapters/memory/platform/MemoryPlatformStores.ts"
import * as MemoryReceiptStore from "../../adapters/memory/receipts/MemoryReceiptStore.ts"
import * as MemoryChangeFeed from "../../adapters/memory/shared/MemoryChangeFeed.ts"
import * as MemoryIdempotencyStore from "../../adapters/memory/shared/MemoryIdempotencyStore.ts"
import { MemoryTables } from "../../adapters/memory/shared/MemoryTables.ts"
import * as MemoryUnitOfWork from "../../adapters/memory/shared/MemoryUnitOfWork.ts"
import * as MemoryTaskStore from "../../adapters/memory/tasks/MemoryTaskStore.ts"
import * as MemoryTrustStores from "../../adapters/memory/trust/MemoryTrustStores.ts"
import { TaskStore } from "../../domain/tasks/CallTask.ts"
import { ProviderEvidence } from "../../domain/trust/Trust.ts"
import { Books } from "./Books.ts"

const stores = Layer.mergeAll(
  MemoryAccountStores.layer.pipe(Layer.provideMerge(MemoryTrustStores.layer)),
  MemoryCallStore.layer,
  MemoryCatalogStores.layer,
  MemoryChangeFeed.layer,
  MemoryEarningsStores.layer,
  MemoryIdempotencyStore.layer,
  MemoryInvoiceStore.layer,
  MemoryLedgerStores.layer,
  MemoryLogStore.layer,
  MemoryMcpStores.layer,
  MemoryMeteringStores.layer,
  MemoryOperatorStores.layer,
  MemoryPaymentStores.layer,
  MemoryPlatformStores.layer,
  MemoryReceiptStore.layer,
  MemoryUnitOfWork.layer
).pipe(Layer.provide([MemoryTables.layer, MemoryLedger.layer]))

/** The stores of the core. */
export const memoryStores = Books.layer(ProviderEvidence.layer.pipe(Layer.provideMerge(stores)))

/** The stores of the profile `memory`: the core's, and the one that only a whole service has. */
export const memoryProfile = Layer.merge(memoryStores, MemoryTaskStore.layer)

/** Given ports. Beside given stores of the core, tasks are stored in memory, unless their store is given too. */
export const withTaskStore = (given: Context.Context<never>): Layer.Layer<never> =>
  given.mapUnsafe.has(Books.key) && !given.mapUnsafe.has(TaskStore.key)
    ? (Layer.merge(Layer.succeedContext(given), MemoryTaskStore.layer) as Layer.Layer<never>)
    : Layer.succeedContext(given)

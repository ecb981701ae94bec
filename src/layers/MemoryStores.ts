/**
 * Every store on plain Maps: the whole service without a database, until the process ends.
 */
import { Layer } from "effect"
import * as MemoryAccountSearch from "../../adapters/memory/operator/MemoryAccountSearch.ts"
import * as MemoryAccountStore from "../../adapters/memory/accounts/MemoryAccountStore.ts"
import * as MemoryAuditTrailStore from "../../adapters/memory/operator/MemoryAuditTrailStore.ts"
import * as MemoryBudgetStore from "../../adapters/memory/ledger/MemoryBudgetStore.ts"
import * as MemoryCallStore from "../../adapters/memory/metering/MemoryCallStore.ts"
import * as MemoryCatalogStore from "../../adapters/memory/catalog/MemoryCatalogStore.ts"
import * as MemoryChangeFeed from "../../adapters/memory/shared/MemoryChangeFeed.ts"
import * as MemoryClaimStore from "../../adapters/memory/earnings/MemoryClaimStore.ts"
import * as MemoryChargebackStore from "../../adapters/memory/payments/MemoryChargebackStore.ts"
import * as MemoryDisputeStore from "../../adapters/memory/trust/MemoryDisputeStore.ts"
import * as MemoryFreezeStore from "../../adapters/memory/payments/MemoryFreezeStore.ts"
import * as MemoryGrantStore from "../../adapters/memory/metering/MemoryGrantStore.ts"
import * as MemoryHandleStore from "../../adapters/memory/accounts/MemoryHandleStore.ts"
import * as MemoryHealthHistoryStore from "../../adapters/memory/platform/MemoryHealthHistoryStore.ts"
import * as MemoryIdempotencyStore from "../../adapters/memory/shared/MemoryIdempotencyStore.ts"
import * as MemoryImportStore from "../../adapters/memory/catalog/MemoryImportStore.ts"
import * as MemoryInvoiceStore from "../../adapters/memory/invoices/MemoryInvoiceStore.ts"
import * as MemoryKeyStore from "../../adapters/memory/accounts/MemoryKeyStore.ts"
import { MemoryLedger } from "../../adapters/memory/ledger/MemoryLedger.ts"
import * as MemoryLedgerStore from "../../adapters/memory/ledger/MemoryLedgerStore.ts"
import * as MemoryLoadStore from "../../adapters/memory/payments/MemoryLoadStore.ts"
import * as MemoryLogStore from "../../adapters/memory/log/MemoryLogStore.ts"
import * as MemoryOperatorSessionStore from "../../adapters/memory/operator/MemoryOperatorSessionStore.ts"
import * as MemoryPayeeStore from "../../adapters/memory/earnings/MemoryPayeeStore.ts"
import * as MemoryPayoutStore from "../../adapters/memory/earnings/MemoryPayoutStore.ts"
import * as MemoryMcpSessionStore from "../../adapters/memory/mcp/MemoryMcpSessionStore.ts"
import * as MemoryMcpStreamStore from "../../adapters/memory/mcp/MemoryMcpStreamStore.ts"
import * as MemoryMeterKeyStore from "../../adapters/memory/metering/MemoryMeterKeyStore.ts"
import * as MemoryToolAliasStore from "../../adapters/memory/mcp/MemoryToolAliasStore.ts"
import * as MemoryToolboxStore from "../../adapters/memory/mcp/MemoryToolboxStore.ts"
import * as MemoryNamePinStore from "../../adapters/memory/metering/MemoryNamePinStore.ts"
import * as MemoryMarketFigures from "../../adapters/memory/catalog/MemoryMarketFigures.ts"
import * as MemoryPlatformFigures from "../../adapters/memory/platform/MemoryPlatformFigures.ts"
import * as MemoryReceiptStore from "../../adapters/memory/receipts/MemoryReceiptStore.ts"
import * as MemorySubmissionStore from "../../adapters/memory/platform/MemorySubmissionStore.ts"
import { MemoryTables } from "../../adapters/memory/shared/MemoryTables.ts"
import * as MemorySlaStore from "../../adapters/memory/trust/MemorySlaStore.ts"
import * as MemoryUnitOfWork from "../../adapters/memory/shared/MemoryUnitOfWork.ts"
import * as MemoryUpkeep from "../../adapters/memory/platform/MemoryUpkeep.ts"
import * as MemoryUnfitOutputs from "../../adapters/memory/metering/MemoryUnfitOutputs.ts"
import * as MemoryUsageStore from "../../adapters/memory/metering/MemoryUsageStore.ts"
import * as MemoryVerificationStore from "../../adapters/memory/trust/MemoryVerificationStore.ts"
import * as MemoryPaidFunds from "../../adapters/memory/ledger/MemoryPaidFunds.ts"
import * as MemorySpendingByLot from "../../adapters/memory/payments/MemorySpendingByLot.ts"
import * as MemoryWithdrawalStore from "../../adapters/memory/payments/MemoryWithdrawalStore.ts"
import * as MemoryWaitlistStore from "../../adapters/memory/platform/MemoryWaitlistStore.ts"
import { ProviderEvidence } from "../../domain/trust/ProviderEvidence.ts"
import { Books } from "./Books.ts"

const stores = Layer.mergeAll(
  MemoryAccountSearch.layer,
  MemoryAccountStore.layer,
  MemoryAuditTrailStore.layer,
  MemoryBudgetStore.layer,
  MemoryCallStore.layer,
  MemoryCatalogStore.layer,
  MemoryChangeFeed.layer,
  MemoryClaimStore.layer,
  MemoryChargebackStore.layer,
  MemoryDisputeStore.layer,
  MemoryFreezeStore.layer,
  MemoryGrantStore.layer,
  MemoryHandleStore.layer.pipe(Layer.provide(MemoryVerificationStore.layer)),
  MemoryHealthHistoryStore.layer,
  MemoryIdempotencyStore.layer,
  MemoryImportStore.layer,
  MemoryInvoiceStore.layer,
  MemoryKeyStore.layer,
  MemoryLedgerStore.layer,
  MemoryLoadStore.layer,
  MemoryLogStore.layer,
  MemoryMarketFigures.layer,
  MemoryMcpSessionStore.layer,
  MemoryMcpStreamStore.layer,
  MemoryMeterKeyStore.layer,
  MemoryNamePinStore.layer,
  MemoryOperatorSessionStore.layer,
  MemoryPayeeStore.layer,
  MemoryPayoutStore.layer,
  MemoryPlatformFigures.layer,
  MemoryReceiptStore.layer,
  MemorySlaStore.layer,
  MemorySubmissionStore.layer,
  MemoryToolAliasStore.layer,
  MemoryToolboxStore.layer,
  MemoryUnitOfWork.layer,
  MemoryUpkeep.layer,
  MemoryUnfitOutputs.layer,
  MemoryUsageStore.layer,
  MemoryVerificationStore.layer,
  MemoryPaidFunds.layer,
  MemorySpendingByLot.layer,
  MemoryWithdrawalStore.layer,
  MemoryWaitlistStore.layer
).pipe(Layer.provide([MemoryTables.layer, MemoryLedger.layer]))

export const memoryStores = Books.layer(ProviderEvidence.layer.pipe(Layer.provideMerge(stores)))

/**
 * Every store on plain Maps: the whole service with no database, gone when it ends.
 */
import { Layer } from "effect"
import * as MemoryAccountStore from "../../adapters/memory/MemoryAccountStore.ts"
import * as MemoryBudgetStore from "../../adapters/memory/MemoryBudgetStore.ts"
import * as MemoryCallStore from "../../adapters/memory/MemoryCallStore.ts"
import * as MemoryCatalogStore from "../../adapters/memory/MemoryCatalogStore.ts"
import * as MemoryChangeFeed from "../../adapters/memory/MemoryChangeFeed.ts"
import * as MemoryClaimStore from "../../adapters/memory/MemoryClaimStore.ts"
import * as MemoryChargebackStore from "../../adapters/memory/MemoryChargebackStore.ts"
import * as MemoryDisputeStore from "../../adapters/memory/MemoryDisputeStore.ts"
import * as MemoryFreezeStore from "../../adapters/memory/MemoryFreezeStore.ts"
import * as MemoryGrantStore from "../../adapters/memory/MemoryGrantStore.ts"
import * as MemoryHandleStore from "../../adapters/memory/MemoryHandleStore.ts"
import * as MemoryHealthHistoryStore from "../../adapters/memory/MemoryHealthHistoryStore.ts"
import * as MemoryIdempotencyStore from "../../adapters/memory/MemoryIdempotencyStore.ts"
import * as MemoryInvoiceStore from "../../adapters/memory/MemoryInvoiceStore.ts"
import * as MemoryKeyStore from "../../adapters/memory/MemoryKeyStore.ts"
import { MemoryLedger } from "../../adapters/memory/MemoryLedger.ts"
import * as MemoryLedgerStore from "../../adapters/memory/MemoryLedgerStore.ts"
import * as MemoryLoadStore from "../../adapters/memory/MemoryLoadStore.ts"
import * as MemoryLogStore from "../../adapters/memory/MemoryLogStore.ts"
import * as MemoryPayeeStore from "../../adapters/memory/MemoryPayeeStore.ts"
import * as MemoryPayoutStore from "../../adapters/memory/MemoryPayoutStore.ts"
import * as MemoryMeterKeyStore from "../../adapters/memory/MemoryMeterKeyStore.ts"
import * as MemoryNamePinStore from "../../adapters/memory/MemoryNamePinStore.ts"
import * as MemoryMarketFigures from "../../adapters/memory/MemoryMarketFigures.ts"
import * as MemoryPlatformFigures from "../../adapters/memory/MemoryPlatformFigures.ts"
import * as MemoryReceiptStore from "../../adapters/memory/MemoryReceiptStore.ts"
import * as MemorySubmissionStore from "../../adapters/memory/MemorySubmissionStore.ts"
import { MemoryTables } from "../../adapters/memory/MemoryTables.ts"
import * as MemorySlaStore from "../../adapters/memory/MemorySlaStore.ts"
import * as MemoryUnitOfWork from "../../adapters/memory/MemoryUnitOfWork.ts"
import * as MemoryUpkeep from "../../adapters/memory/MemoryUpkeep.ts"
import * as MemoryUnfitOutputs from "../../adapters/memory/MemoryUnfitOutputs.ts"
import * as MemoryUsageStore from "../../adapters/memory/MemoryUsageStore.ts"
import * as MemoryVerificationStore from "../../adapters/memory/MemoryVerificationStore.ts"
import * as MemorySpendingByLot from "../../adapters/memory/MemorySpendingByLot.ts"
import * as MemoryWithdrawalStore from "../../adapters/memory/MemoryWithdrawalStore.ts"
import * as MemoryWaitlistStore from "../../adapters/memory/MemoryWaitlistStore.ts"
import { ProviderEvidence } from "../../domain/trust/ProviderEvidence.ts"

const stores = Layer.mergeAll(
  MemoryAccountStore.layer,
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
  MemoryInvoiceStore.layer,
  MemoryKeyStore.layer,
  MemoryLedgerStore.layer,
  MemoryLoadStore.layer,
  MemoryLogStore.layer,
  MemoryMarketFigures.layer,
  MemoryMeterKeyStore.layer,
  MemoryNamePinStore.layer,
  MemoryPayeeStore.layer,
  MemoryPayoutStore.layer,
  MemoryPlatformFigures.layer,
  MemoryReceiptStore.layer,
  MemorySlaStore.layer,
  MemorySubmissionStore.layer,
  MemoryUnitOfWork.layer,
  MemoryUpkeep.layer,
  MemoryUnfitOutputs.layer,
  MemoryUsageStore.layer,
  MemoryVerificationStore.layer,
  MemorySpendingByLot.layer,
  MemoryWithdrawalStore.layer,
  MemoryWaitlistStore.layer
).pipe(Layer.provide([MemoryTables.layer, MemoryLedger.layer]))

export const memoryStores = ProviderEvidence.layer.pipe(Layer.provideMerge(stores))

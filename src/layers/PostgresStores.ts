/**
 * Every store on one PostgreSQL, after migrating its schema.
 */
import { Layer } from "effect"
import * as PostgresAccountSearch from "../../adapters/sql/operator/PostgresAccountSearch.ts"
import * as PostgresAccountStore from "../../adapters/sql/accounts/PostgresAccountStore.ts"
import * as PostgresAuditTrailStore from "../../adapters/sql/operator/PostgresAuditTrailStore.ts"
import * as PostgresBudgetStore from "../../adapters/sql/ledger/PostgresBudgetStore.ts"
import * as PostgresCallStore from "../../adapters/sql/metering/PostgresCallStore.ts"
import * as PostgresCatalogStore from "../../adapters/sql/catalog/PostgresCatalogStore.ts"
import * as PostgresChangeFeed from "../../adapters/sql/shared/PostgresChangeFeed.ts"
import * as PostgresClaimStore from "../../adapters/sql/earnings/PostgresClaimStore.ts"
import * as PostgresChargebackStore from "../../adapters/sql/payments/PostgresChargebackStore.ts"
import * as PostgresDisputeStore from "../../adapters/sql/trust/PostgresDisputeStore.ts"
import * as PostgresFreezeStore from "../../adapters/sql/payments/PostgresFreezeStore.ts"
import * as PostgresGrantStore from "../../adapters/sql/metering/PostgresGrantStore.ts"
import * as PostgresHandleStore from "../../adapters/sql/accounts/PostgresHandleStore.ts"
import * as PostgresHealthHistoryStore from "../../adapters/sql/platform/PostgresHealthHistoryStore.ts"
import * as PostgresIdempotencyStore from "../../adapters/sql/shared/PostgresIdempotencyStore.ts"
import * as PostgresImportStore from "../../adapters/sql/catalog/PostgresImportStore.ts"
import * as PostgresInvoiceStore from "../../adapters/sql/invoices/PostgresInvoiceStore.ts"
import * as PostgresKeyStore from "../../adapters/sql/accounts/PostgresKeyStore.ts"
import * as LostCallsWatch from "../../adapters/sql/metering/LostCallsWatch.ts"
import * as RecentClosings from "../../adapters/sql/metering/RecentClosings.ts"
import * as PostgresLedgerStore from "../../adapters/sql/ledger/PostgresLedgerStore.ts"
import * as PostgresLoadStore from "../../adapters/sql/payments/PostgresLoadStore.ts"
import * as PostgresLogStore from "../../adapters/sql/log/PostgresLogStore.ts"
import * as PostgresOperatorSessionStore from "../../adapters/sql/operator/PostgresOperatorSessionStore.ts"
import * as PostgresPayeeStore from "../../adapters/sql/earnings/PostgresPayeeStore.ts"
import * as PostgresPayoutStore from "../../adapters/sql/earnings/PostgresPayoutStore.ts"
import * as PostgresMcpSessionStore from "../../adapters/sql/mcp/PostgresMcpSessionStore.ts"
import * as PostgresMcpStreamStore from "../../adapters/sql/mcp/PostgresMcpStreamStore.ts"
import * as PostgresMeterKeyStore from "../../adapters/sql/metering/PostgresMeterKeyStore.ts"
import * as PostgresNamePinStore from "../../adapters/sql/metering/PostgresNamePinStore.ts"
import * as PostgresMarketFigures from "../../adapters/sql/catalog/PostgresMarketFigures.ts"
import * as PostgresPlatformFigures from "../../adapters/sql/platform/PostgresPlatformFigures.ts"
import * as PostgresProviderEvidence from "../../adapters/sql/trust/PostgresProviderEvidence.ts"
import * as PostgresReceiptStore from "../../adapters/sql/receipts/PostgresReceiptStore.ts"
import * as PostgresSlaStore from "../../adapters/sql/trust/PostgresSlaStore.ts"
import * as PostgresTime from "../../adapters/sql/shared/PostgresTime.ts"
import * as PostgresSubmissionStore from "../../adapters/sql/platform/PostgresSubmissionStore.ts"
import * as PostgresTaskStore from "../../adapters/sql/tasks/PostgresTaskStore.ts"
import * as PostgresToolAliasStore from "../../adapters/sql/mcp/PostgresToolAliasStore.ts"
import * as PostgresToolboxStore from "../../adapters/sql/mcp/PostgresToolboxStore.ts"
import * as PostgresUnitOfWork from "../../adapters/sql/shared/PostgresUnitOfWork.ts"
import * as PostgresUpkeep from "../../adapters/sql/platform/PostgresUpkeep.ts"
import * as PostgresUnfitOutputs from "../../adapters/sql/metering/PostgresUnfitOutputs.ts"
import * as PostgresUsageStore from "../../adapters/sql/metering/PostgresUsageStore.ts"
import * as PostgresVerificationStore from "../../adapters/sql/trust/PostgresVerificationStore.ts"
import * as PostgresPaidFunds from "../../adapters/sql/ledger/PostgresPaidFunds.ts"
import * as PostgresSpendingByLot from "../../adapters/sql/payments/PostgresSpendingByLot.ts"
import * as PostgresWithdrawalStore from "../../adapters/sql/payments/PostgresWithdrawalStore.ts"
import * as PostgresWaitlistStore from "../../adapters/sql/platform/PostgresWaitlistStore.ts"
import { latestVersion } from "../../migrations/index.ts"
import { Books } from "./Books.ts"
import { client, type Database, migrateAs, prepareSchema } from "./Database.ts"
import { replicaReads } from "./ReplicaReads.ts"

/** All stores but that of calls, which holds a connection of its own. */
export const storesOfCommands = Layer.mergeAll(
  PostgresAccountSearch.layer,
  PostgresAccountStore.layer,
  PostgresAuditTrailStore.layer,
  PostgresBudgetStore.layer,
  PostgresCatalogStore.layer,
  PostgresChangeFeed.layer,
  PostgresClaimStore.layer,
  PostgresChargebackStore.layer,
  PostgresDisputeStore.layer,
  PostgresFreezeStore.layer,
  PostgresGrantStore.layer,
  PostgresHandleStore.layer,
  PostgresHealthHistoryStore.layer,
  PostgresIdempotencyStore.layer,
  PostgresImportStore.layer,
  PostgresInvoiceStore.layer,
  PostgresKeyStore.layer,
  PostgresLedgerStore.layer,
  PostgresLoadStore.layer,
  PostgresLogStore.layer,
  PostgresMarketFigures.layer,
  PostgresMcpSessionStore.layer,
  PostgresMcpStreamStore.layer,
  PostgresMeterKeyStore.layer,
  PostgresNamePinStore.layer,
  PostgresOperatorSessionStore.layer,
  PostgresPayeeStore.layer,
  PostgresPayoutStore.layer,
  PostgresPlatformFigures.layer,
  PostgresProviderEvidence.layer,
  PostgresReceiptStore.layer,
  PostgresSlaStore.layer,
  PostgresSubmissionStore.layer,
  PostgresTaskStore.layer,
  PostgresToolAliasStore.layer,
  PostgresToolboxStore.layer,
  PostgresUnitOfWork.layer,
  PostgresUnfitOutputs.layer,
  PostgresUsageStore.layer,
  PostgresVerificationStore.layer,
  PostgresPaidFunds.layer,
  PostgresSpendingByLot.layer,
  PostgresWithdrawalStore.layer,
  PostgresWaitlistStore.layer,
  PostgresTime.layer
)

export const postgresStores = (database: Database) =>
  Books.layer(
    Layer.mergeAll(
      replicaReads(database).pipe(Layer.provideMerge(storesOfCommands)),
      PostgresCallStore.layer.pipe(Layer.provide(RecentClosings.layer)),
      LostCallsWatch.layer.pipe(Layer.provide([RecentClosings.layer, storesOfCommands])),
      PostgresUpkeep.layer({ latestVersion, run: migrateAs(database.ownerUrl) })
    )
  ).pipe(Layer.provide(Layer.effectDiscard(prepareSchema(database.ownerUrl))), Layer.provideMerge(client(database)))

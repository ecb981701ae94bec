/**
 * Ports of metering over PostgreSQL.
 */
import { Layer } from "effect"
import * as NodeEntropy from "../../adapters/crypto/NodeEntropy.ts"
import * as PostgresAccountStores from "../../adapters/sql/accounts/PostgresAccountStores.ts"
import * as PostgresCatalogStore from "../../adapters/sql/catalog/PostgresCatalogStore.ts"
import * as PostgresMarketFigures from "../../adapters/sql/catalog/PostgresMarketFigures.ts"
import * as PostgresLedgerStore from "../../adapters/sql/ledger/PostgresLedgerStore.ts"
import * as PostgresCallStore from "../../adapters/sql/metering/PostgresCallStore.ts"
import * as PostgresMeteringStores from "../../adapters/sql/metering/PostgresMeteringStores.ts"
import * as PostgresUsageStore from "../../adapters/sql/metering/PostgresUsageStore.ts"
import * as PostgresReceiptStore from "../../adapters/sql/receipts/PostgresReceiptStore.ts"
import * as PostgresUnitOfWork from "../../adapters/sql/shared/PostgresUnitOfWork.ts"
import type { AccountStore } from "../../domain/accounts/Account.ts"
import type { CatalogStore, MarketFigures } from "../../domain/catalog/CatalogStore.ts"
import { Ledger } from "../../domain/ledger/Ledger.ts"
import type { CallStore } from "../../domain/metering/CallStore.ts"
import type { MeterKeyStore } from "../../domain/metering/DirectMetering.ts"
import type { GrantStore } from "../../domain/metering/Grants.ts"
import type { UnfitOutputs } from "../../domain/metering/Settlement.ts"
import type { UsageStore } from "../../domain/metering/Usage.ts"
import type { ReceiptStore } from "../../domain/receipts/Receipts.ts"
import type { Entropy } from "../../domain/shared/Cryptography.ts"
import type { UnitOfWork } from "../../domain/shared/StoreUnavailable.ts"
import { PostgresTest } from "../support/servers/PostgresTest.ts"

export type MeteringPorts =
  | AccountStore
  | CallStore
  | CatalogStore
  | Entropy
  | GrantStore
  | Ledger
  | MarketFigures
  | MeterKeyStore
  | ReceiptStore
  | UnfitOutputs
  | UnitOfWork
  | UsageStore

export const postgresMetering = Ledger.layer.pipe(
  Layer.provideMerge(
    Layer.mergeAll(
      PostgresAccountStores.layer,
      PostgresCallStore.layer,
      PostgresCatalogStore.layer,
      PostgresMeteringStores.layer,
      PostgresLedgerStore.layer,
      PostgresMarketFigures.layer,
      PostgresReceiptStore.layer,
      PostgresUnitOfWork.layer,
      PostgresUsageStore.layer,
      NodeEntropy.layer
    )
  ),
  Layer.provideMerge(PostgresTest.layer)
)

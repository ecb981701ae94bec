/**
 * What a CatalogStore must do, with the accounts of its providers.
 */
import type { AccountStore } from "../../../domain/accounts/Account.ts"
import type { CatalogStore } from "../../../domain/catalog/CatalogStore.ts"
import type { UnitOfWork } from "../../../domain/shared/StoreUnavailable.ts"
import { draftsOfCatalog } from "./CatalogDrafts.ts"
import { frozenProvidersOfCatalog } from "./CatalogFrozen.ts"
import { pricesOfCatalog } from "./CatalogPrices.ts"
import { searchOfCatalog } from "./CatalogSearch.ts"
import { toolsOfCatalog } from "./CatalogTools.ts"
import { withdrawalsOfCatalog } from "./CatalogWithdrawal.ts"
import type { Contract } from "../shared/Contract.ts"

export const catalogStoreContract: Contract<AccountStore | CatalogStore | UnitOfWork> = [
  ...toolsOfCatalog,
  ...pricesOfCatalog,
  ...searchOfCatalog,
  ...withdrawalsOfCatalog,
  ...draftsOfCatalog,
  ...frozenProvidersOfCatalog
]

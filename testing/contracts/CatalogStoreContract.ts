/**
 * What a CatalogStore must do, with the accounts of its providers.
 */
import type { AccountStore } from "../../domain/accounts/AccountStore.ts"
import type { CatalogStore } from "../../domain/catalog/CatalogStore.ts"
import type { UnitOfWork } from "../../domain/shared/UnitOfWork.ts"
import type { Contract } from "./Contract.ts"
import { draftsOfCatalog } from "./CatalogDrafts.ts"
import { frozenProvidersOfCatalog } from "./CatalogFrozen.ts"
import { pricesOfCatalog } from "./CatalogPrices.ts"
import { searchOfCatalog } from "./CatalogSearch.ts"
import { toolsOfCatalog } from "./CatalogTools.ts"
import { withdrawalsOfCatalog } from "./CatalogWithdrawal.ts"

export const catalogStoreContract: Contract<AccountStore | CatalogStore | UnitOfWork> = [
  ...toolsOfCatalog,
  ...pricesOfCatalog,
  ...searchOfCatalog,
  ...withdrawalsOfCatalog,
  ...draftsOfCatalog,
  ...frozenProvidersOfCatalog
]

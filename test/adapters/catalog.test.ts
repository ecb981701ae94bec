import { catalogContract } from "../contracts/catalog.ts"
import { catalogPricesContract } from "../contracts/catalogPrices.ts"
import { catalogSearchContract } from "../contracts/catalogSearch.ts"
import { catalogWithdrawalContract } from "../contracts/catalogWithdrawal.ts"
import { everyStore } from "../contracts/ports.ts"

for (const [name, ports] of everyStore) {
  catalogContract(name, ports)
  catalogPricesContract(name, ports)
  catalogSearchContract(name, ports)
  catalogWithdrawalContract(name, ports)
}

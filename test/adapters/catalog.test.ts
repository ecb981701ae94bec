import { catalogContract } from "../contracts/catalog.ts"
import { catalogSearchContract } from "../contracts/catalogSearch.ts"
import { catalogWithdrawalContract } from "../contracts/catalogWithdrawal.ts"
import { everyStore } from "../contracts/ports.ts"

for (const [name, ports] of everyStore) {
  catalogContract(name, ports)
  catalogSearchContract(name, ports)
  catalogWithdrawalContract(name, ports)
}

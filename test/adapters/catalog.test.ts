import { catalogContract } from "../contracts/catalog.ts"
import { catalogSearchContract } from "../contracts/catalogSearch.ts"
import { everyStore } from "../contracts/ports.ts"

for (const [name, ports] of everyStore) {
  catalogContract(name, ports)
  catalogSearchContract(name, ports)
}

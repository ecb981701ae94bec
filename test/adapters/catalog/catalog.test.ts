import { catalogStoreContract } from "../../../testing/contracts/catalog/CatalogStoreContract.ts"
import { catalogSearchModel } from "../../contracts/catalogSearch.ts"
import { contractOverEveryStore } from "../../contracts/contractOverEveryStore.ts"
import { everyStore } from "../../contracts/ports.ts"

contractOverEveryStore("CatalogStore", catalogStoreContract)
for (const [name, ports] of everyStore) catalogSearchModel(name, ports)

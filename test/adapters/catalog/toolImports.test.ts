import { importStoreContract } from "../../../testing/contracts/catalog/ImportStoreContract.ts"
import { contractOverEveryStore } from "../../contracts/contractOverEveryStore.ts"

contractOverEveryStore("ImportStore", importStoreContract)

import { importStoreContract } from "../../testing/contracts/ImportStoreContract.ts"
import { contractOverEveryStore } from "../contracts/contractOverEveryStore.ts"

contractOverEveryStore("ImportStore", importStoreContract)

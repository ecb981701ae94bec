import { freezeStoreContract } from "../../testing/contracts/FreezeStoreContract.ts"
import { contractOverEveryStore } from "../contracts/contractOverEveryStore.ts"

contractOverEveryStore("FreezeStore", freezeStoreContract)

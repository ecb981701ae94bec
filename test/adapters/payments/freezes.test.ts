import { freezeStoreContract } from "../../../testing/contracts/payments/FreezeStoreContract.ts"
import { contractOverEveryStore } from "../../contracts/contractOverEveryStore.ts"

contractOverEveryStore("FreezeStore", freezeStoreContract)

import { claimStoreContract } from "../../../testing/contracts/earnings/ClaimStoreContract.ts"
import { contractOverEveryStore } from "../../contracts/contractOverEveryStore.ts"

contractOverEveryStore("ClaimStore", claimStoreContract)

import { claimStoreContract } from "../../testing/contracts/ClaimStoreContract.ts"
import { contractOverEveryStore } from "../contracts/contractOverEveryStore.ts"

contractOverEveryStore("ClaimStore", claimStoreContract)

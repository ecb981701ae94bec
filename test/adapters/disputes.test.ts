import { disputeStoreContract } from "../../testing/contracts/DisputeStoreContract.ts"
import { contractOverEveryStore } from "../contracts/contractOverEveryStore.ts"

contractOverEveryStore("DisputeStore", disputeStoreContract)

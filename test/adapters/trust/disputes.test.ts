import { disputeStoreContract } from "../../../testing/contracts/trust/DisputeStoreContract.ts"
import { contractOverEveryStore } from "../../contracts/contractOverEveryStore.ts"

contractOverEveryStore("DisputeStore", disputeStoreContract)

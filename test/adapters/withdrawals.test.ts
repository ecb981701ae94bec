import { withdrawalStoreContract } from "../../testing/contracts/WithdrawalStoreContract.ts"
import { contractOverEveryStore } from "../contracts/contractOverEveryStore.ts"

contractOverEveryStore("WithdrawalStore", withdrawalStoreContract)

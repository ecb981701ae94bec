import { accountStoreContract } from "../../testing/contracts/AccountStoreContract.ts"
import { contractOverEveryStore } from "../contracts/contractOverEveryStore.ts"

contractOverEveryStore("AccountStore", accountStoreContract)

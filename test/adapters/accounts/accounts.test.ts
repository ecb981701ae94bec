import { accountStoreContract } from "../../../testing/contracts/accounts/AccountStoreContract.ts"
import { contractOverEveryStore } from "../../contracts/contractOverEveryStore.ts"

contractOverEveryStore("AccountStore", accountStoreContract)

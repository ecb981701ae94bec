import { loadStoreContract } from "../../testing/contracts/LoadStoreContract.ts"
import { payeeStoreContract } from "../../testing/contracts/PayeeStoreContract.ts"
import { payoutStoreContract } from "../../testing/contracts/PayoutStoreContract.ts"
import { contractOverEveryStore } from "../contracts/contractOverEveryStore.ts"

contractOverEveryStore("LoadStore", loadStoreContract)
contractOverEveryStore("PayoutStore", payoutStoreContract)
contractOverEveryStore("PayeeStore", payeeStoreContract)

import { loadStoreContract } from "../../../testing/contracts/payments/LoadStoreContract.ts"
import { payeeStoreContract } from "../../../testing/contracts/earnings/PayeeStoreContract.ts"
import { payoutStoreContract } from "../../../testing/contracts/earnings/PayoutStoreContract.ts"
import { contractOverEveryStore } from "../../contracts/contractOverEveryStore.ts"

contractOverEveryStore("LoadStore", loadStoreContract)
contractOverEveryStore("PayoutStore", payoutStoreContract)
contractOverEveryStore("PayeeStore", payeeStoreContract)

import { keyStoreContract } from "../../../testing/contracts/accounts/KeyStoreContract.ts"
import { contractOverEveryStore } from "../../contracts/contractOverEveryStore.ts"

contractOverEveryStore("KeyStore", keyStoreContract)

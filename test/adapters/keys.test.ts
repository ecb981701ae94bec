import { keyStoreContract } from "../../testing/contracts/KeyStoreContract.ts"
import { contractOverEveryStore } from "../contracts/contractOverEveryStore.ts"

contractOverEveryStore("KeyStore", keyStoreContract)

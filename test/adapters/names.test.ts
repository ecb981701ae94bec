import { handleStoreContract } from "../../testing/contracts/HandleStoreContract.ts"
import { namePinStoreContract } from "../../testing/contracts/NamePinStoreContract.ts"
import { contractOverEveryStore } from "../contracts/contractOverEveryStore.ts"

contractOverEveryStore("HandleStore", handleStoreContract)
contractOverEveryStore("NamePinStore", namePinStoreContract)

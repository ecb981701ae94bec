import { handleStoreContract } from "../../../testing/contracts/providers/HandleStoreContract.ts"
import { namePinStoreContract } from "../../../testing/contracts/metering/NamePinStoreContract.ts"
import { contractOverEveryStore } from "../../contracts/contractOverEveryStore.ts"

contractOverEveryStore("HandleStore", handleStoreContract)
contractOverEveryStore("NamePinStore", namePinStoreContract)

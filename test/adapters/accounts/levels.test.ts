import { levelStoreContract } from "../../../testing/contracts/accounts/LevelStoreContract.ts"
import { contractOverEveryStore } from "../../contracts/contractOverEveryStore.ts"

contractOverEveryStore("LevelStore", levelStoreContract)

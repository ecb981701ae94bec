import { taskStoreContract } from "../../testing/contracts/TaskStoreContract.ts"
import { contractOverEveryStore } from "../contracts/contractOverEveryStore.ts"

contractOverEveryStore("TaskStore", taskStoreContract)

import { taskStoreContract } from "../../testing/contracts/mcp/TaskStoreContract.ts"
import { contractOverEveryStore } from "../contracts/contractOverEveryStore.ts"

contractOverEveryStore("TaskStore", taskStoreContract)

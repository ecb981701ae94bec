import { mcpSessionStoreContract } from "../../testing/contracts/McpSessionStoreContract.ts"
import { mcpStreamStoreContract } from "../../testing/contracts/McpStreamStoreContract.ts"
import { contractOverEveryStore } from "../contracts/contractOverEveryStore.ts"

contractOverEveryStore("McpSessionStore", mcpSessionStoreContract)
contractOverEveryStore("McpStreamStore", mcpStreamStoreContract)

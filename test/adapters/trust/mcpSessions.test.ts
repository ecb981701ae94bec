import { mcpSessionStoreContract } from "../../../testing/contracts/mcp/McpSessionStoreContract.ts"
import { mcpStreamStoreContract } from "../../../testing/contracts/mcp/McpStreamStoreContract.ts"
import { contractOverEveryStore } from "../../contracts/contractOverEveryStore.ts"

contractOverEveryStore("McpSessionStore", mcpSessionStoreContract)
contractOverEveryStore("McpStreamStore", mcpStreamStoreContract)

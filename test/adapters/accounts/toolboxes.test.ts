/**
 * Toolboxes and aliases of tools over memory and PostgreSQL.
 */
import { toolAliasStoreContract } from "../../../testing/contracts/mcp/ToolAliasStoreContract.ts"
import { toolboxStoreContract } from "../../../testing/contracts/accounts/ToolboxStoreContract.ts"
import { contractOverEveryStore } from "../../contracts/contractOverEveryStore.ts"

contractOverEveryStore("ToolboxStore", toolboxStoreContract)
contractOverEveryStore("ToolAliasStore", toolAliasStoreContract)

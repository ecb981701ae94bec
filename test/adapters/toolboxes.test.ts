/**
 * Toolboxes and aliases of tools over memory and PostgreSQL.
 */
import { toolAliasStoreContract } from "../../testing/contracts/ToolAliasStoreContract.ts"
import { toolboxStoreContract } from "../../testing/contracts/ToolboxStoreContract.ts"
import { contractOverEveryStore } from "../contracts/contractOverEveryStore.ts"

contractOverEveryStore("ToolboxStore", toolboxStoreContract)
contractOverEveryStore("ToolAliasStore", toolAliasStoreContract)

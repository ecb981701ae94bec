/**
 * Toolboxes and aliases of tools over memory and PostgreSQL.
 */
import { everyStore } from "../contracts/ports.ts"
import { toolboxesContract } from "../contracts/toolboxes.ts"

for (const [name, ports] of everyStore) toolboxesContract(name, ports)

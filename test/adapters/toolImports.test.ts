import { everyStore } from "../contracts/ports.ts"
import { toolImportsContract } from "../contracts/toolImports.ts"

for (const [name, ports] of everyStore) toolImportsContract(name, ports)

import { everyStore } from "../contracts/ports.ts"
import { keysContract } from "../contracts/keys.ts"

for (const [name, ports] of everyStore) keysContract(name, ports)

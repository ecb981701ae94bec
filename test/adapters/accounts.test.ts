import { everyStore } from "../contracts/ports.ts"
import { accountsContract } from "../contracts/accounts.ts"

for (const [name, ports] of everyStore) accountsContract(name, ports)

import { logContract, logSignerContract } from "../contracts/log.ts"
import { everyLog } from "../contracts/logPorts.ts"

for (const [name, ports] of everyLog) logContract(name, ports)
logSignerContract()

import { logContract, logSignerContract } from "../contracts/log.ts"
import { logTailContract } from "../contracts/logTails.ts"
import { everyLog } from "../contracts/logPorts.ts"

for (const [name, ports] of everyLog) {
  logContract(name, ports)
  logTailContract(name, ports)
}
logSignerContract()

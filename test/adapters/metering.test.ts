import { grantsContract } from "../contracts/grants.ts"
import { marketFiguresContract } from "../contracts/marketFigures.ts"
import { meterKeysContract } from "../contracts/meterKeys.ts"
import { everyMetering } from "../contracts/meteringPorts.ts"
import { receiptsContract } from "../contracts/receipts.ts"
import { unfitOutputsContract } from "../contracts/unfitOutputs.ts"
import { usageContract } from "../contracts/usage.ts"

for (const [name, ports] of everyMetering) {
  receiptsContract(name, ports)
  usageContract(name, ports)
  grantsContract(name, ports)
  meterKeysContract(name, ports)
  unfitOutputsContract(name, ports)
  marketFiguresContract(name, ports)
}

import { meterKeyStoreContract } from "../../testing/contracts/MeterKeyStoreContract.ts"
import { unfitOutputsContract } from "../../testing/contracts/UnfitOutputsContract.ts"
import { contractOver } from "../contracts/contractOver.ts"
import { grantsContract } from "../contracts/grants.ts"
import { marketFiguresContract } from "../contracts/marketFigures.ts"
import { everyMetering } from "../contracts/meteringPorts.ts"
import { receiptsContract } from "../contracts/receipts.ts"
import { usageContract } from "../contracts/usage.ts"

for (const [name, ports] of everyMetering) {
  receiptsContract(name, ports)
  usageContract(name, ports)
  grantsContract(name, ports)
  contractOver(`MeterKeyStore over ${name}`, meterKeyStoreContract, ports)
  contractOver(`UnfitOutputs over ${name}`, unfitOutputsContract, ports)
  marketFiguresContract(name, ports)
}

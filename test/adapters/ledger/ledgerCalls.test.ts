import { callStoreContract } from "../../../testing/contracts/metering/CallStoreContract.ts"
import { contractOver } from "../../contracts/contractOver.ts"
import { everyLedger } from "../../contracts/ledgerPorts.ts"

for (const [name, ports] of everyLedger) contractOver(`CallStore over ${name}`, callStoreContract, ports)

import { ledgerStoreContract } from "../../testing/contracts/LedgerStoreContract.ts"
import { contractOver } from "../contracts/contractOver.ts"
import { trialBalanceContract } from "../contracts/trialBalance.ts"
import { everyLedger } from "../contracts/ledgerPorts.ts"

for (const [name, ports] of everyLedger) {
  contractOver(`LedgerStore over ${name}`, ledgerStoreContract, ports)
  trialBalanceContract(name, ports)
}

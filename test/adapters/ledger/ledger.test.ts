import { ledgerStoreContract } from "../../../testing/contracts/ledger/LedgerStoreContract.ts"
import { trialBalanceContract } from "../../../testing/contracts/ledger/TrialBalanceContract.ts"
import { contractOver } from "../../contracts/contractOver.ts"
import { everyLedger } from "../../contracts/ledgerPorts.ts"

for (const [name, ports] of everyLedger) {
  contractOver(`LedgerStore over ${name}`, ledgerStoreContract, ports)
  contractOver(`Trial balance over ${name}`, trialBalanceContract, ports)
}

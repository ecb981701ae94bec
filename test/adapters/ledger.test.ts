import { ledgerContract, trialBalanceContract } from "../contracts/ledger.ts"
import { everyLedger } from "../contracts/ledgerPorts.ts"

for (const [name, ports] of everyLedger) {
  ledgerContract(name, ports)
  trialBalanceContract(name, ports)
}

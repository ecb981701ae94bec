import { ledgerContract } from "../contracts/ledger.ts"
import { trialBalanceContract } from "../contracts/trialBalance.ts"
import { referencesContract } from "../contracts/ledgerReferences.ts"
import { everyLedger } from "../contracts/ledgerPorts.ts"

for (const [name, ports] of everyLedger) {
  ledgerContract(name, ports)
  referencesContract(name, ports)
  trialBalanceContract(name, ports)
}

import { callStoreContract } from "../contracts/callStore.ts"
import { budgetsOfCallsContract } from "../contracts/callStoreBudgets.ts"
import { endsOfCallsContract } from "../contracts/callStoreEnds.ts"
import { freeTierContract } from "../contracts/callStoreFreeTier.ts"
import { idempotencyOfCallsContract } from "../contracts/callStoreKeys.ts"
import { everyLedger } from "../contracts/ledgerPorts.ts"

for (const [name, ports] of everyLedger) {
  callStoreContract(name, ports)
  freeTierContract(name, ports)
  idempotencyOfCallsContract(name, ports)
  budgetsOfCallsContract(name, ports)
  endsOfCallsContract(name, ports)
}

import { everyMoney, loadStoreContract, payeeStoreContract, payoutStoreContract } from "../contracts/money.ts"

for (const [name, ports] of everyMoney) {
  loadStoreContract(name, ports)
  payoutStoreContract(name, ports)
  payeeStoreContract(name, ports)
}

import { handlesContract } from "../contracts/handles.ts"
import { namePinsContract } from "../contracts/namePins.ts"
import { everyStore } from "../contracts/ports.ts"

for (const [name, ports] of everyStore) {
  handlesContract(name, ports)
  namePinsContract(name, ports)
}

import { waitlistStoreContract } from "../../testing/contracts/WaitlistStoreContract.ts"
import { contractOver } from "../contracts/contractOver.ts"
import { everyPlatform, platformFiguresContract, submissionStoreContract } from "../contracts/platform.ts"

for (const [name, ports] of everyPlatform) {
  contractOver(`WaitlistStore over ${name}`, waitlistStoreContract, ports)
  submissionStoreContract(name, ports)
  platformFiguresContract(name, ports)
}

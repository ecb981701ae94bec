import { submissionStoreContract } from "../../testing/contracts/SubmissionStoreContract.ts"
import { waitlistStoreContract } from "../../testing/contracts/WaitlistStoreContract.ts"
import { contractOver } from "../contracts/contractOver.ts"
import { everyPlatform, platformFiguresContract } from "../contracts/platform.ts"

for (const [name, ports] of everyPlatform) {
  contractOver(`WaitlistStore over ${name}`, waitlistStoreContract, ports)
  contractOver(`SubmissionStore over ${name}`, submissionStoreContract, ports)
  platformFiguresContract(name, ports)
}

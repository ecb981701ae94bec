import {
  everyPlatform,
  platformFiguresContract,
  submissionStoreContract,
  waitlistStoreContract
} from "../contracts/platform.ts"

for (const [name, ports] of everyPlatform) {
  waitlistStoreContract(name, ports)
  submissionStoreContract(name, ports)
  platformFiguresContract(name, ports)
}

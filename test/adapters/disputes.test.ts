import { disputeStoreContract, everyDisputes } from "../contracts/disputes.ts"

for (const [name, ports] of everyDisputes) disputeStoreContract(name, ports)

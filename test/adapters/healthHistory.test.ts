import { everyHealthHistory, healthHistoryStoreContract } from "../contracts/healthHistory.ts"

for (const [name, ports] of everyHealthHistory) healthHistoryStoreContract(name, ports)

import { claimStoreContract, everyClaims } from "../contracts/claims.ts"

for (const [name, ports] of everyClaims) claimStoreContract(name, ports)

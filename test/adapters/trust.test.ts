import { everyEvidence, providerEvidenceContract } from "../contracts/evidence.ts"
import { everySla, slaStoreContract } from "../contracts/sla.ts"
import { everyVerification, verificationStoreContract } from "../contracts/verification.ts"

for (const [name, ports] of everySla) slaStoreContract(name, ports)
for (const [name, ports] of everyVerification) verificationStoreContract(name, ports)
for (const [name, ports] of everyEvidence) providerEvidenceContract(name, ports)

import { Layer } from "effect"
import { ProviderEvidence } from "../../../domain/trust/Trust.ts"
import { providerEvidenceContract } from "../../../testing/contracts/trust/ProviderEvidenceContract.ts"
import { slaStoreContract } from "../../../testing/contracts/trust/SlaStoreContract.ts"
import { verificationStoreContract } from "../../../testing/contracts/trust/VerificationStoreContract.ts"
import { contractOver } from "../../contracts/contractOver.ts"
import { contractOverEveryStore, postgresStores } from "../../contracts/contractOverEveryStore.ts"

contractOverEveryStore("SlaStore", slaStoreContract)
contractOverEveryStore("VerificationStore", verificationStoreContract)
contractOverEveryStore("ProviderEvidence", providerEvidenceContract)
contractOver(
  "ProviderEvidence over PostgreSQL, part by part",
  providerEvidenceContract,
  ProviderEvidence.layer.pipe(Layer.provideMerge(postgresStores))
)

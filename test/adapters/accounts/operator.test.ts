import { accountSearchContract } from "../../../testing/contracts/operator/AccountSearchContract.ts"
import { auditTrailStoreContract } from "../../../testing/contracts/operator/AuditTrailStoreContract.ts"
import { operatorSessionStoreContract } from "../../../testing/contracts/accounts/OperatorSessionStoreContract.ts"
import { contractOverEveryStore } from "../../contracts/contractOverEveryStore.ts"

contractOverEveryStore("OperatorSessionStore", operatorSessionStoreContract)
contractOverEveryStore("AuditTrailStore", auditTrailStoreContract)
contractOverEveryStore("AccountSearch", accountSearchContract)

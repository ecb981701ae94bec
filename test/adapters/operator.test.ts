import { accountSearchContract } from "../../testing/contracts/AccountSearchContract.ts"
import { auditTrailStoreContract } from "../../testing/contracts/AuditTrailStoreContract.ts"
import { operatorSessionStoreContract } from "../../testing/contracts/OperatorSessionStoreContract.ts"
import { contractOverEveryStore } from "../contracts/contractOverEveryStore.ts"

contractOverEveryStore("OperatorSessionStore", operatorSessionStoreContract)
contractOverEveryStore("AuditTrailStore", auditTrailStoreContract)
contractOverEveryStore("AccountSearch", accountSearchContract)

import { invoiceStoreContract } from "../../testing/contracts/InvoiceStoreContract.ts"
import { contractOverEveryStore } from "../contracts/contractOverEveryStore.ts"

contractOverEveryStore("InvoiceStore", invoiceStoreContract)

import { invoiceStoreContract } from "../../../testing/contracts/invoices/InvoiceStoreContract.ts"
import { contractOverEveryStore } from "../../contracts/contractOverEveryStore.ts"

contractOverEveryStore("InvoiceStore", invoiceStoreContract)

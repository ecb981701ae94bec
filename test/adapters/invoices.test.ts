import { everyInvoices, invoiceStoreContract } from "../contracts/invoices.ts"

for (const [name, ports] of everyInvoices) invoiceStoreContract(name, ports)

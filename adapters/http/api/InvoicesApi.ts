/**
 * Monthly documents: for their owners, and for the operator who issues them.
 */
import { HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { readBy, writeBy } from "./Access.ts"
import * as Endpoint from "./Endpoint.ts"
import { pageQuery } from "./InputSchemas.ts"
import {
  CreditInvoice,
  documentName,
  Invoice,
  InvoiceHead,
  invoiceId,
  InvoicesMade,
  RunInvoices
} from "./InvoiceBodies.ts"
import * as Field from "./Field.ts"
import { pageOf } from "./SharedFields.ts"

const InvoicePage = pageOf(
  "InvoicePage",
  "A page of your documents.",
  "invoices",
  Field.list(InvoiceHead, "Documents of this page, newest first.")
)

export class InvoicesApi extends HttpApiGroup.make("invoices")
  .add(
    Endpoint.get("list", "/api/v1/market/invoices", {
      access: readBy("consumer", "provider"),
      summary: "List your invoices, statements and credit notes",
      description: "Newest first. The documents of a month are issued on the first day of the next month (UTC).",
      query: pageQuery,
      success: InvoicePage
    }),
    Endpoint.get("find", "/api/v1/market/invoices/:id", {
      access: readBy("consumer", "provider", "operator"),
      summary: "Retrieve an invoice, statement or credit note",
      description: "Append `.html` or `.pdf` to the ID for the document in that format.",
      params: { id: documentName },
      success: Invoice
    }),
    Endpoint.post("run", "/api/v1/market/invoices/run", {
      access: readBy("operator"),
      summary: "Issue the documents of a month",
      description:
        "Issues the documents that do not exist yet; an interrupted run can be repeated. The response compares invoices, " +
        "statements and ledger.",
      payload: RunInvoices,
      success: InvoicesMade
    }),
    Endpoint.post("credit", "/api/v1/market/invoices/:id/credit-notes", {
      access: writeBy("operator"),
      summary: "Credit an invoice",
      description: "Credits the amount to the consumer's balance and issues a credit note.",
      params: { id: invoiceId },
      payload: CreditInvoice,
      success: Invoice.pipe(HttpApiSchema.status(201))
    })
  )
  .annotateMerge(
    OpenApi.annotations({ title: "Invoices", description: "Monthly invoices, statements and credit notes." })
  ) {}

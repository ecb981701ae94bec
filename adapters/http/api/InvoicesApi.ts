/**
 * Monthly documents: for their owners, and for the operator who issues them.
 */
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { about, KeyAuth, readBy, writeBy } from "./Access.ts"
import { idempotencyHeader, pageQuery } from "./InputSchemas.ts"
import { CreditInvoice, documentName, Invoice, InvoiceHead, invoiceId, InvoicesMade, RunInvoices } from "./Invoice.ts"
import * as Field from "./Field.ts"
import { problems } from "./ProblemSchemas.ts"
import { pageOf } from "./SharedFields.ts"

const InvoicePage = pageOf(
  "InvoicePage",
  "A page of your documents.",
  "invoices",
  Field.list(InvoiceHead, "Documents of this page, newest first.")
)

export class InvoicesApi extends HttpApiGroup.make("invoices")
  .add(
    HttpApiEndpoint.get("list", "/api/v1/market/invoices", {
      query: pageQuery,
      success: InvoicePage,
      error: problems(400, 401, 403)
    })
      .middleware(KeyAuth)
      .annotateMerge(
        about(
          readBy("consumer", "provider"),
          "List your invoices, statements and credit notes",
          "Newest first. The documents of a month are issued on the first day of the next month (UTC)."
        )
      ),
    HttpApiEndpoint.get("find", "/api/v1/market/invoices/:id", {
      params: { id: documentName },
      success: Invoice,
      error: problems(401, 403, 404)
    })
      .middleware(KeyAuth)
      .annotateMerge(
        about(
          readBy("consumer", "provider", "operator"),
          "Retrieve an invoice, statement or credit note",
          "Append `.html` or `.pdf` to the ID for the document in that format."
        )
      ),
    HttpApiEndpoint.post("run", "/api/v1/market/invoices/run", {
      payload: RunInvoices,
      success: InvoicesMade,
      error: problems(400, 401, 403, 413, 415, 422)
    })
      .middleware(KeyAuth)
      .annotateMerge(
        about(
          readBy("operator"),
          "Issue the documents of a month",
          "Issues the documents that do not exist yet; an interrupted run can be repeated. The response compares invoices, " +
            "statements and ledger."
        )
      ),
    HttpApiEndpoint.post("credit", "/api/v1/market/invoices/:id/credit-notes", {
      params: { id: invoiceId },
      headers: idempotencyHeader,
      payload: CreditInvoice,
      success: Invoice.pipe(HttpApiSchema.status(201)),
      error: problems(400, 401, 403, 404, 409, 413, 415, 422)
    })
      .middleware(KeyAuth)
      .annotateMerge(
        about(
          writeBy("operator"),
          "Credit an invoice",
          "Credits the amount to the consumer's balance and issues a credit note."
        )
      )
  )
  .annotateMerge(
    OpenApi.annotations({ title: "Invoices", description: "Monthly invoices, statements and credit notes." })
  ) {}

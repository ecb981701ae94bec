/**
 * Invoices, statements and credit notes: bodies, and endpoints for their owners and for the operator.
 */
import { Schema } from "effect"
import { HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { InvoiceKind, Month } from "../../../domain/invoices/Invoice.ts"
import { InvoiceId } from "../../../domain/shared/Ids.ts"
import * as Endpoint from "../contract/Endpoint.ts"
import { operatorAction, operatorRun, readBy } from "../contract/Endpoint.ts"
import * as Field from "../contract/Field.ts"
import { Note, pageQuery } from "../contract/InputSchemas.ts"
import { BASE_URL, CONSUMER_ID, INVOICE_ID } from "../contract/SampleValues.ts"
import * as shared from "../contract/SharedFields.ts"

const INVOICE_URL = `${BASE_URL}/api/v1/market/invoices/${INVOICE_ID}`
const TOTAL = "Gross total of the calls (of a credit note: the credited amount)"
const NET = "Net amount paid or earned"

const month = Field.of(Month, "Calendar month (UTC).", "2026-10")
const fee = Field.signedMicrocents("Platform fee of a statement", 60_200)

const InvoiceHead = Field.object("InvoiceHead", "A document without its lines.", {
  invoice_id: Field.of(InvoiceId, "ID of the document.", INVOICE_ID),
  number: Field.string("Consecutive number, assigned when the document was issued.", "INV-2026-000042"),
  kind: Field.of(InvoiceKind, "Type of the document: a consumer's invoice, a provider's statement, or a credit note."),
  month,
  issued_at: Field.timestamp("Time of issue.", "2026-11-01T00:05:12.345Z"),
  total_microcents: Field.signedMicrocents(TOTAL, 602_000),
  total_cents: Field.cents(TOTAL, 60),
  total: Field.string("Exact total as display text.", "$0.602"),
  net_microcents: Field.signedMicrocents(NET, 602_000),
  net: Field.string("Exact net amount as display text.", "$0.602"),
  corrects: Field.nullable(
    InvoiceId,
    "ID of the invoice that a credit note corrects. `null`: no credit note, or one for the refunds of the month."
  ),
  html_url: Field.string("URL of the document as HTML.", `${INVOICE_URL}.html`),
  pdf_url: Field.string("URL of the document as PDF.", `${INVOICE_URL}.pdf`)
})

const owner = Schema.Struct({
  role: Field.of(Schema.Literals(["consumer", "provider"]), "Role of the account."),
  id: Field.string("ID of the account.", CONSUMER_ID),
  name: Field.string("Name of the account.", "Research agent"),
  email: Field.string("Email address of the account.", "agent@example.org")
})

const line = Schema.Struct({
  tool_id: shared.toolId,
  tool_name: shared.toolName,
  provider: Field.string("Name of the provider at the time of issue.", "Ada Tools"),
  price_version: Field.int("Number of the price version.", 1),
  unit_price_microcents: Field.signedMicrocents("Price of a call", 2_000),
  calls: Field.int("Number of calls.", 320),
  billed_calls: Field.int("Number of billed calls.", 301),
  free_calls: Field.int("Number of successful calls without charge.", 10),
  failed_calls: Field.int("Number of failed calls without charge.", 9),
  amount_microcents: Field.signedMicrocents("Amount", 602_000),
  fee_microcents: Field.signedMicrocents("Platform fee", 60_200)
})

const movement = Schema.Struct({
  kind: Field.string("Type of the movement.", "load"),
  amount_microcents: Field.signedMicrocents("Amount (negative: debited)", 5_000_000)
})

const Invoice = Field.object("Invoice", "A document as issued. It never changes.", {
  ...InvoiceHead.fields,
  owner: Field.of(owner, "The account at the time of issue."),
  fee_microcents: fee,
  amount_due_cents: Field.always(0, "Always `0`: calls are paid from the balance."),
  reason: Field.nullableString("Reason for a credit note. `null` otherwise."),
  lines: Field.list(line, "Lines by tool and price."),
  movements: Field.list(movement, "Other movements of the balance in the month.")
})

const RunInvoices = Field.object("RunInvoices", "The month to invoice.", { month })

const InvoicesMade = Field.object("InvoicesMade", "The issued documents, compared with the ledger.", {
  month,
  issued: Field.int("Number of documents issued by this request.", 42),
  documents: Field.int("Number of all documents of the month.", 42),
  ledger_microcents: Field.signedMicrocents("Total of the calls in the ledger", 602_000),
  invoices_microcents: Field.signedMicrocents("Total of the invoices", 602_000),
  statements_microcents: Field.signedMicrocents("Total of the statements", 602_000),
  agrees: Field.boolean("Whether the three totals are equal.")
})

const CreditInvoice = Field.object("CreditInvoice", "The amount to credit, and the reason.", {
  amount_microcents: Field.microcents("Amount to credit (at most what is left of the invoice)", 500),
  reason: Field.of(Note(500), "Reason, shown on the credit note.", "Two calls were metered twice")
})

/** The ID, with an optional file extension. */
const documentName = Field.of(
  Schema.String.check(
    Schema.isPattern(/^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}(\.html|\.pdf)?$/u, {
      message: "must be a UUID in lower case, with or without `.html` or `.pdf` at its end"
    })
  ),
  "ID of the document, with an optional extension `.html` or `.pdf`.",
  INVOICE_ID
)

const invoiceId = Field.of(InvoiceId, "ID of the invoice.", INVOICE_ID)

const InvoicePage = shared.pageOf(
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
      problems: ["NOT_CONFIGURED"],
      success: Invoice
    }),
    Endpoint.post("run", "/api/v1/market/invoices/run", {
      access: operatorRun("invoices.run"),
      summary: "Issue the documents of a month",
      description:
        "Issues the documents that do not exist yet; an interrupted run can be repeated. The response compares invoices, " +
        "statements and ledger.",
      payload: RunInvoices,
      success: InvoicesMade
    }),
    Endpoint.post("credit", "/api/v1/market/invoices/:id/credit-notes", {
      access: operatorAction("invoice.credit"),
      summary: "Credit an invoice",
      description: "Credits the amount to the consumer's balance and issues a credit note.",
      params: { id: invoiceId },
      payload: CreditInvoice,
      success: Invoice.pipe(HttpApiSchema.status(201)),
      problems: ["INSUFFICIENT_PLATFORM_FUNDS"]
    })
  )
  .annotateMerge(Endpoint.about("Invoices", "Monthly invoices, statements and credit notes.")) {}

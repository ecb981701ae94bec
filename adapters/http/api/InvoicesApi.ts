/**
 * Monthly documents, for their owners and for the operator who makes them.
 */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { InvoiceKind, Month } from "../../../domain/invoices/Invoice.ts"
import { InvoiceId, ToolId } from "../../../domain/shared/Ids.ts"
import { MicrocentsFromInt } from "../../../domain/shared/Microcents.ts"
import { Timestamp } from "../../../domain/shared/Timestamp.ts"
import { Access, KeyAuth, readBy, writeBy } from "./Access.ts"
import { Display, Name, pageQuery } from "./Fields.ts"
import { idempotencyHeader } from "./IdempotencyHeader.ts"
import { problems } from "./Problem.ts"

const InvoiceShown = Schema.Struct({
  invoice_id: InvoiceId,
  number: Schema.String,
  kind: InvoiceKind,
  month: Month,
  issued_at: Timestamp,
  total_microcents: Schema.Int,
  total_cents: Schema.Int,
  total: Display,
  net_microcents: Schema.Int,
  net: Display,
  corrects: Schema.NullOr(InvoiceId),
  html_url: Schema.String,
  pdf_url: Schema.String
}).annotate({ identifier: "InvoiceHead" })

const InvoiceWhole = Schema.Struct({
  ...InvoiceShown.fields,
  owner: Schema.Struct({
    role: Schema.Literals(["consumer", "provider"]),
    id: Schema.String,
    name: Schema.String,
    email: Schema.String
  }),
  fee_microcents: Schema.Int,
  amount_due_cents: Schema.Literal(0),
  reason: Schema.NullOr(Schema.String),
  lines: Schema.Array(
    Schema.Struct({
      tool_id: ToolId,
      tool_name: Schema.String,
      provider: Schema.String,
      price_version: Schema.Int,
      unit_price_microcents: Schema.Int,
      calls: Schema.Int,
      billed_calls: Schema.Int,
      free_calls: Schema.Int,
      failed_calls: Schema.Int,
      amount_microcents: Schema.Int,
      fee_microcents: Schema.Int
    })
  ),
  movements: Schema.Array(Schema.Struct({ kind: Schema.String, amount_microcents: Schema.Int }))
}).annotate({ identifier: "Invoice" })

export const RunInvoices = Schema.Struct({ month: Month }).annotate({
  identifier: "RunInvoices",
  examples: [{ month: "2026-10" as never }]
})

const InvoicesMade = Schema.Struct({
  month: Month,
  issued: Schema.Int,
  documents: Schema.Int,
  ledger_microcents: Schema.Int,
  invoices_microcents: Schema.Int,
  statements_microcents: Schema.Int,
  agrees: Schema.Boolean
}).annotate({ identifier: "InvoicesMade" })

export const CreditInvoice = Schema.Struct({ amount_microcents: MicrocentsFromInt, reason: Name(500) }).annotate({
  identifier: "CreditInvoice",
  examples: [{ amount_microcents: 500 as never, reason: "Two calls were metered twice" }]
})

/** With `.html` or `.pdf` behind the id: as a page, as a file. */
const DocumentName = Schema.String.check(
  Schema.isPattern(/^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}(\.html|\.pdf)?$/u, {
    message: "must be a UUID in lower case, with or without `.html` or `.pdf` at its end"
  })
)

export class InvoicesApi extends HttpApiGroup.make("invoices")
  .add(
    HttpApiEndpoint.get("list", "/api/v1/market/invoices", {
      query: pageQuery,
      success: Schema.Struct({
        invoices: Schema.Array(InvoiceShown),
        total: Schema.Int,
        limit: Schema.Int,
        offset: Schema.Int,
        next_cursor: Schema.NullOr(Schema.String)
      }).annotate({ identifier: "InvoicePage" }),
      error: problems(400, 401, 403)
    })
      .annotate(Access, readBy("consumer", "provider"))
      .middleware(KeyAuth)
      .annotateMerge(
        OpenApi.annotations({
          summary: "List your invoices, statements and credit notes",
          description: "The newest first. They are made on the first of each month, UTC, for the month before."
        })
      ),
    HttpApiEndpoint.get("find", "/api/v1/market/invoices/:id", {
      params: { id: DocumentName },
      success: InvoiceWhole,
      error: problems(401, 403, 404)
    })
      .annotate(Access, readBy("consumer", "provider", "operator"))
      .middleware(KeyAuth)
      .annotateMerge(
        OpenApi.annotations({
          summary: "Read one of them",
          description: "With `.html` behind the id as a page, with `.pdf` as a file to keep."
        })
      ),
    HttpApiEndpoint.post("run", "/api/v1/market/invoices/run", {
      payload: RunInvoices,
      success: InvoicesMade,
      error: problems(400, 401, 403, 413, 415, 422)
    })
      .annotate(Access, readBy("operator"))
      .middleware(KeyAuth)
      .annotateMerge(
        OpenApi.annotations({
          summary: "Make the documents of a month",
          description:
            "For the operator. What is there already stays as it is; a run that broke off goes on. The answer compares " +
            "invoices, statements and ledger."
        })
      ),
    HttpApiEndpoint.post("credit", "/api/v1/market/invoices/:id/credit-notes", {
      params: { id: InvoiceId },
      headers: idempotencyHeader,
      payload: CreditInvoice,
      success: InvoiceWhole.pipe(HttpApiSchema.status(201)),
      error: problems(400, 401, 403, 404, 409, 413, 415, 422)
    })
      .annotate(Access, writeBy("operator"))
      .middleware(KeyAuth)
      .annotateMerge(
        OpenApi.annotations({
          summary: "Credit an invoice",
          description:
            "For the operator. The amount goes back to the consumer's balance, with a credit note that says why."
        })
      )
  )
  .annotateMerge(
    OpenApi.annotations({ title: "Invoices", description: "What each month came to, on paper that never changes." })
  ) {}

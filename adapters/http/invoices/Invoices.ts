/**
 * Monthly documents over HTTP: as JSON, as a page, and as a file.
 */
import { Effect, Option } from "effect"
import { amountText, type Invoice, InvoicePrinter, InvoiceStore } from "../../../domain/invoices/Invoice.ts"
import { InvoiceNotFound, Invoicing } from "../../../domain/invoices/Invoicing.ts"
import { InvoiceId } from "../../../domain/shared/Ids.ts"
import { toCents } from "../../../domain/shared/Microcents.ts"
import { escapeHiddenJson } from "../../../domain/shared/PlainText.ts"
import { BaseUrl } from "../contract/BaseUrl.ts"
import { pageFields, pageRequest } from "../pipeline/Decoding.ts"
import { invalidField, notConfigured, notFound, type ProblemsOf } from "../pipeline/Problems.ts"
import { Pages, routesWith } from "../pipeline/Route.ts"
import { fieldsOf } from "../pipeline/Views.ts"
import { InvoicesApi } from "./InvoicesApi.ts"

const invoiceProblems = {
  CreditRejected: invalidField("amount_microcents"),
  InvoiceNotFound: notFound("GET /api/v1/market/invoices lists yours."),
  MonthNotOver: invalidField("month"),
  PdfNotConfigured: notConfigured("Replace .pdf by .html or .json in the URL.")
} satisfies ProblemsOf<Invoicing | InvoicePrinter>

const { encodedRoute, route } = routesWith(invoiceProblems)

const { endpoints } = InvoicesApi

export const invoicesRoutes = Effect.gen(function* () {
  const invoicing = yield* Invoicing
  const store = yield* InvoiceStore
  const printer = yield* InvoicePrinter
  const pages = yield* Pages
  const baseUrl = yield* BaseUrl

  const head = (invoice: Invoice) => {
    const url = `${baseUrl}/api/v1/market/invoices/${invoice.id}`
    return {
      invoice_id: invoice.id,
      ...fieldsOf(invoice, "number", "kind", "month", "issuedAt"),
      total_microcents: Number(invoice.total),
      total_cents: toCents(invoice.total),
      total: amountText(invoice.total),
      net_microcents: Number(invoice.net),
      net: amountText(invoice.net),
      corrects: invoice.corrects ?? null,
      html_url: `${url}.html`,
      pdf_url: `${url}.pdf`
    }
  }

  const whole = (invoice: Invoice) => ({
    ...head(invoice),
    owner: invoice.owner,
    fee_microcents: Number(invoice.fee),
    amount_due_cents: 0 as const,
    reason: invoice.reason ?? null,
    lines: invoice.lines.map((line) => ({
      ...fieldsOf(line, "toolId", "toolName", "provider", "priceVersion"),
      unit_price_microcents: Number(line.unitPrice),
      ...fieldsOf(line, "calls", "billedCalls", "freeCalls", "failedCalls"),
      amount_microcents: Number(line.amount),
      fee_microcents: Number(line.fee)
    })),
    movements: invoice.movements.map(({ amount, kind }) => ({ kind, amount_microcents: Number(amount) }))
  })

  return [
    route(endpoints.list, function* ({ as, query }) {
      const page = yield* pageRequest("invoices", query)
      const found = yield* store.list(as("consumer", "provider").ownerId, page)
      return { invoices: found.items.map(head), ...pageFields("invoices", page, found) }
    }),
    encodedRoute(endpoints.find, function* ({ as, params }) {
      const caller = as("consumer", "provider", "operator")
      const [id, form] = params.id.split(".") as [string, string | undefined]
      const found = Option.getOrUndefined(yield* store.find(InvoiceId.make(id)))
      // A document of another account is reported as not found.
      if (found === undefined || (caller.role !== "operator" && caller.ownerId !== found.owner.id)) {
        return yield* new InvoiceNotFound({ id })
      }
      if (form === "html") return pages.invoice(found)
      if (form === "pdf") {
        const headers = {
          "content-type": "application/pdf",
          "content-disposition": `inline; filename="${found.number}.pdf"`
        }
        return { status: 200, headers, body: yield* printer.pdf(found) }
      }
      return { status: 200, headers: {}, body: escapeHiddenJson(JSON.stringify(whole(found))) }
    }),
    route(endpoints.run, function* ({ payload: { month } }) {
      const closed = yield* invoicing.close(month)
      return {
        month,
        ...fieldsOf(closed, "issued", "documents"),
        ledger_microcents: Number(closed.ledger),
        invoices_microcents: Number(closed.invoices),
        statements_microcents: Number(closed.statements),
        agrees: closed.agrees
      }
    }),
    route(endpoints.credit, function* ({ params, payload }) {
      const made = yield* invoicing.correct(params.id, payload.amount_microcents, payload.reason)
      return whole(made)
    })
  ]
})

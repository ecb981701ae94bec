/**
 * What an InvoicePrinter must do that makes PDF files.
 */
import { Effect } from "effect"
import assert from "node:assert/strict"
import { type Invoice, InvoicePrinter, Month } from "../../../domain/invoices/Invoice.ts"
import { type Contract, rule } from "../shared/Contract.ts"
import { aDraft } from "./InvoiceStoreContract.ts"

const LINES = 200

/** A document of several pages. */
const anInvoice = (kind: Invoice["kind"]): Invoice => {
  const draft = aDraft(Month.make("2026-11"), { kind })
  const lines = Array.from({ length: LINES }, (_, n) => ({ ...draft.lines[0]!, toolName: `多 <b>'"\\ 🌦 ${n}` }))
  return { ...draft, lines, number: "INV-2026-000001", issuedAt: "2026-12-01T00:06:00.000Z" }
}

export const invoicePrinterContract: Contract<InvoicePrinter> = [
  rule(
    "makes a PDF file of every kind of document, whatever its texts contain",
    Effect.gen(function* () {
      const { pdf } = yield* InvoicePrinter
      for (const kind of ["invoice", "statement"] as const) {
        const text = Buffer.from(yield* pdf(anInvoice(kind))).toString("latin1")
        assert.ok(text.startsWith("%PDF-"))
        assert.ok(text.trimEnd().endsWith("%%EOF"))
      }
    })
  )
]

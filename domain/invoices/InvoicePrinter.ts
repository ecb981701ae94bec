/**
 * Port that renders a document as a printable file.
 */
import { Context, type Effect, Schema } from "effect"
import type { Invoice } from "./Invoice.ts"

/** Every document is also available as HTML and JSON. */
export class PdfNotConfigured extends Schema.TaggedError<PdfNotConfigured>()("PdfNotConfigured", {}) {
  override get message() {
    return "This service cannot make PDF files: its operator has not installed the package for it. Read the document as HTML: replace .pdf by .html in the URL."
  }
}

export class InvoicePrinter extends Context.Service<
  InvoicePrinter,
  {
    pdf(invoice: Invoice): Effect.Effect<Uint8Array, PdfNotConfigured>
  }
>()("agent-tool-billing/domain/invoices/InvoicePrinter") {}

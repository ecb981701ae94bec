/** Port that renders a document as a printable file. */
import { Context, type Effect } from "effect"
import type { Invoice } from "./Invoice.ts"

export class InvoicePrinter extends Context.Service<
  InvoicePrinter,
  {
    pdf(invoice: Invoice): Effect.Effect<Uint8Array>
  }
>()("agent-tool-billing/domain/invoices/InvoicePrinter") {}

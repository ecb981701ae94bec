/**
 * For a service without the package that makes PDF files. The first request is logged with what to install.
 */
import { Effect, Layer } from "effect"
import { InvoicePrinter, PdfNotConfigured } from "../../domain/invoices/Invoice.ts"

export const layer = (advice: string): Layer.Layer<InvoicePrinter> =>
  Layer.effect(
    InvoicePrinter,
    Effect.map(Effect.cached(Effect.logWarning(advice)), (warned) =>
      InvoicePrinter.of({ pdf: () => Effect.andThen(warned, Effect.fail(new PdfNotConfigured())) })
    )
  )

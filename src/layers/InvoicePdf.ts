/**
 * The printer of documents. PDF is one of three forms: a service without the package starts, and logs what to install.
 */
import { Effect, Layer } from "effect"
import * as NoInvoicePrinter from "../../adapters/pdf/NoInvoicePrinter.ts"
import * as PdfInvoicePrinter from "../../adapters/pdf/PdfInvoicePrinter.ts"
import { isInstalled, PackageMissing } from "./OptionalPackages.ts"

export const invoicePrinter = Layer.unwrap(
  Effect.sync(() =>
    isInstalled("pdfkit")
      ? PdfInvoicePrinter.layer
      : NoInvoicePrinter.layer(new PackageMissing({ name: "pdfkit" }).message)
  )
)

/**
 * Ports of a program that is not connected to what is outside: mail, PDF documents, MCP servers and published proofs.
 */
import { Effect, Layer } from "effect"
import { InvoicePrinter, PdfNotConfigured } from "../../../domain/invoices/Invoice.ts"
import { Mailer, MailNotConfigured } from "../../../domain/trust/Mailer.ts"
import { ProofReader } from "../../../domain/trust/Verification.ts"
import { ProviderServers, ServerFailed } from "../../../domain/upstream/ProviderServers.ts"

/** Every mail fails, because no mailer is configured. */
export const noMailer = Layer.succeed(Mailer, Mailer.of({ send: () => Effect.fail(new MailNotConfigured()) }))

/** Stands in for the package that makes PDF files. The first request is logged with what to install. */
export const noInvoicePrinter = (advice: string): Layer.Layer<InvoicePrinter> =>
  Layer.effect(
    InvoicePrinter,
    Effect.map(Effect.cached(Effect.logWarning(advice)), (warned) =>
      InvoicePrinter.of({ pdf: () => Effect.andThen(warned, Effect.fail(new PdfNotConfigured())) })
    )
  )

/** Suits a program whose tools are called in another way. */
export const noProviderServers: Layer.Layer<ProviderServers> = Layer.sync(ProviderServers, () => {
  const unreachable = Effect.fail(
    new ServerFailed({
      problem: { kind: "connection", message: "This service does not connect to MCP servers of providers" },
      sessionLost: false
    })
  )
  return {
    profile: () => unreachable,
    tools: () => unreachable,
    initialize: () => unreachable,
    ask: () => unreachable,
    tell: () => unreachable,
    listen: () => unreachable,
    end: () => Effect.void
  }
})

export const nothingPublished = Layer.succeed(
  ProofReader,
  ProofReader.of({
    txt: () => Effect.succeed([]),
    wellKnown: () => Effect.undefined,
    repositoryFile: () => Effect.undefined
  })
)

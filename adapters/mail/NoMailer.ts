/**
 * A mailer that is not configured: every mail fails.
 */
import { Effect, Layer } from "effect"
import { Mailer, MailNotConfigured } from "../../domain/trust/Mailer.ts"

export const layer = Layer.succeed(Mailer, Mailer.of({ send: () => Effect.fail(new MailNotConfigured()) }))

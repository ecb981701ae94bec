/**
 * Mail over SMTP, by nodemailer. Bounded in time; the server's reason of a failure is logged, not shown to the client.
 */
import { Effect, Layer, Redacted } from "effect"
import { createTransport } from "nodemailer"
import { Mailer, MailFailed } from "../../domain/trust/Mailer.ts"

export interface SmtpOptions {
  /** `smtp://user:password@host:587`, or `smtps:`. */
  readonly url: Redacted.Redacted
  readonly from: string
}

const TIMEOUT_MS = 10_000

export const layer = ({ from, url }: SmtpOptions): Layer.Layer<Mailer> =>
  Layer.effect(
    Mailer,
    Effect.map(
      Effect.acquireRelease(
        Effect.sync(() =>
          createTransport({
            url: Redacted.value(url),
            pool: true,
            maxConnections: 2,
            connectionTimeout: TIMEOUT_MS,
            greetingTimeout: TIMEOUT_MS,
            socketTimeout: TIMEOUT_MS,
            disableFileAccess: true,
            disableUrlAccess: true
          })
        ),
        (transport) => Effect.sync(() => transport.close())
      ),
      (transport) =>
        Mailer.of({
          send: Effect.fn("SmtpMailer.send")(function* ({ subject, text, to }) {
            yield* Effect.tryPromise(() => transport.sendMail({ from, to, subject, text })).pipe(
              Effect.timeout(TIMEOUT_MS * 2),
              Effect.tapError((error) => Effect.logWarning("A mail was not sent", error)),
              Effect.mapError(() => new MailFailed({ problem: "the mail server did not accept it" }))
            )
          })
        })
    )
  )

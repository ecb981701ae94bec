/**
 * Port that sends mail. Success means that the mail server accepted it.
 */
import { Context, type Effect, Schema } from "effect"

/** A message in plain text to one address. */
export interface Mail {
  readonly to: string
  readonly subject: string
  readonly text: string
}

/** The mail server did not accept the message. Nothing was sent. */
export class MailFailed extends Schema.TaggedError<MailFailed>()("MailFailed", { problem: Schema.String }) {
  override get message() {
    return `The mail could not be sent: ${this.problem}. Retry in a few minutes.`
  }
}

/** The service runs without a mail server, so it cannot verify mailboxes. */
export class MailNotConfigured extends Schema.TaggedError<MailNotConfigured>()("MailNotConfigured", {}) {
  override get message() {
    return "This service has no mail server, so it cannot send mail."
  }
}

export class Mailer extends Context.Service<
  Mailer,
  { send(mail: Mail): Effect.Effect<void, MailFailed | MailNotConfigured> }
>()("agent-tool-billing/domain/trust/Mailer") {}

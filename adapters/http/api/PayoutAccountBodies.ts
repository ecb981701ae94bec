/**
 * A provider's payout account at the payment processor, on the wire.
 */
import { Schema } from "effect"
import * as Field from "./Field.ts"
import { WebUrl } from "./InputSchemas.ts"
import { providerId } from "./SharedFields.ts"

const ACCOUNT_ID = "acct_1QwErTyUiOpAsDfG"
const ONBOARDING_URL = "https://connect.stripe.com/setup/a1B2c3"

export const ConnectBody = Field.object("ConnectBody", "Where the payment processor's pages redirect to.", {
  return_url: Field.optional(WebUrl, "URL to return to after onboarding. Default: your dashboard."),
  refresh_url: Field.optional(WebUrl, "URL to return to if the link has expired. Default: your dashboard.")
}).annotate({ examples: [{ return_url: "https://tools.example.org/paid" }] })

export const Connected = Field.object(
  "Connected",
  "A link to the payment processor's onboarding, valid once and for a few minutes.",
  {
    provider_id: providerId,
    stripe_account_id: Field.string("ID of your account at the payment processor.", ACCOUNT_ID),
    onboarding_url: Field.string("URL of the payment processor's onboarding page.", ONBOARDING_URL),
    url: Field.string("Same as `onboarding_url`.", ONBOARDING_URL),
    expires_at: Field.timestamp("Time when the link expires.", "2026-11-20T10:16:12.000Z")
  }
)

export const Connection = Field.object("Connection", "The payout account, as the payment processor reports it.", {
  provider_id: providerId,
  status: Field.of(
    Schema.Literals(["not_started", "pending", "complete", "restricted"]),
    "Status of the payout account. `complete`: payouts are possible.",
    "complete"
  ),
  connected: Field.boolean("Whether `status` is `complete`."),
  stripe_account_id: Field.nullableString("ID of your account at the payment processor. `null`: none.", ACCOUNT_ID),
  charges_enabled: Field.boolean("Whether the account can charge cards. Not required for payouts.", false),
  payouts_enabled: Field.boolean("Whether the account can receive transfers."),
  details_submitted: Field.boolean("Whether you completed the payment processor's onboarding form."),
  requirements: Field.of(
    Schema.Struct({
      currently_due: Field.strings("Information that is due now."),
      eventually_due: Field.strings("Information that will be due later."),
      errors: Field.strings("Errors in the submitted information.")
    }),
    "Information that the payment processor requires."
  ),
  automatic_payouts: Field.boolean("Whether automatic monthly payouts are enabled.", false)
})

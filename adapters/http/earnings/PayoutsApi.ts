/**
 * The provider's money: earnings, payout account, payouts, and the payment processor's webhook.
 */
import { Schema } from "effect"
import { HttpApiGroup } from "effect/http-api"
import { PayoutState } from "../../../domain/earnings/PayoutStore.ts"
import { PayoutId } from "../../../domain/shared/Ids.ts"
import * as Endpoint from "../contract/Endpoint.ts"
import { readBy, uncached, writeBy } from "../contract/Endpoint.ts"
import * as Field from "../contract/Field.ts"
import { idempotencyHeader, WebUrl } from "../contract/InputSchemas.ts"
import { PAYOUT_ID, SAMPLE_SIGNATURE } from "../contract/SampleValues.ts"
import * as shared from "../contract/SharedFields.ts"
import { feeFields } from "../contract/SharedFields.ts"
import { ProviderOverview } from "../payments/MoneyApi.ts"

// A provider's earnings on the wire.

const Period = Schema.Literals(["7d", "30d", "90d", "all"])

const AskSummary = Field.object("AskSummary", "The period of the summary.", {
  period: Field.optional(Period, "Period up to now. Default: `30d`.")
}).annotate({ examples: [{ period: "30d" }] })

const GROSS = "Gross revenue (paid by consumers)"
const FEE = "Platform fee"
const NET = "Net earnings (gross revenue less platform fee)"

const calls = Field.int("Number of calls.", 301)
const grossCents = Field.cents(GROSS, 60)
const grossMicrocents = Field.signedMicrocents(GROSS, 602_000)
const feeCents = Field.cents(FEE, 6)
const feeMicrocents = Field.signedMicrocents(FEE, 60_200)
const netCents = Field.cents(NET, 54)
const netMicrocents = Field.signedMicrocents(NET, 541_800)

const earned = {
  calls,
  gross_cents: grossCents,
  gross_microcents: grossMicrocents,
  platform_fee_cents: feeCents,
  platform_fee_microcents: feeMicrocents,
  net_cents: netCents,
  net_microcents: netMicrocents
}

const PENDING = "Provider balance (maturing, available, reserved and frozen)"
const pendingBalance = {
  pending_balance_cents: Field.cents(PENDING, 54),
  pending_balance: Field.dollars(PENDING, "$0.54")
}

const ProviderSummary = Field.object(
  "ProviderSummary",
  "Earnings of the period. In microcents, every total is the exact sum of its parts.",
  {
    provider: Field.of(Schema.Struct({ id: shared.providerId, name: shared.providerName }), "The provider."),
    period: Field.of(Period, "Period of the summary.", "30d"),
    platform_fee_rate: Field.string("Platform fee of new calls, as display text.", "10%"),
    platform_fee_terms: Field.of(
      Schema.Struct(feeFields),
      "Platform fee of new calls. A call that was held before a change keeps its fee."
    ),
    earnings: Field.of(
      Schema.Struct({
        gross_revenue_cents: grossCents,
        gross_revenue_microcents: grossMicrocents,
        gross_revenue: Field.dollars(GROSS, "$0.60"),
        platform_fee_cents: feeCents,
        platform_fee_microcents: feeMicrocents,
        platform_fee: Field.dollars(FEE, "$0.06"),
        net_earnings_cents: netCents,
        net_earnings_microcents: netMicrocents,
        net_earnings: Field.dollars(NET, "$0.54")
      }),
      "Totals of the period."
    ),
    payout: Field.of(
      Schema.Struct({
        pending_balance_cents: pendingBalance.pending_balance_cents,
        pending_balance_microcents: Field.signedMicrocents(PENDING, 541_800),
        pending_balance: pendingBalance.pending_balance,
        last_payout_date: Field.nullableTimestamp("Time of the last payout. `null`: none."),
        last_payout_cents: Field.nullableInt("Amount of the last payout in cents. `null`: none.")
      }),
      "Balance and last payout."
    ),
    by_tool: Field.list(
      Schema.Struct({ tool: shared.toolId, tool_name: shared.toolName, ...earned }),
      "Earnings by tool, highest first."
    ),
    by_week: Field.list(
      Schema.Struct({ week_of: Field.string("Monday of the week (UTC).", "2026-11-16"), ...earned }),
      "Earnings by week, oldest first, including weeks without calls."
    ),
    gross_revenue_cents: grossCents,
    platform_fee_cents: feeCents,
    net_earnings_cents: netCents,
    total_calls: calls
  }
)

const NoContent = Schema.Record(Schema.String, Schema.Never).annotate({
  identifier: "NoContent",
  description: "An empty object, or no body.",
  examples: [{}]
})

const payoutId = Field.of(PayoutId, "ID of the payout.", PAYOUT_ID)
const status = Field.of(PayoutState, "Status of the payout.", "paid")
const amountCents = Field.int("Amount in cents.", 1_250)
const transferId = Field.nullableString(
  "ID of the transfer at the payment processor. `null` until it exists.",
  "tr_1QwErTyUiOpAsDfG"
)

const PayoutMade = Field.object("PayoutMade", "The payout.", {
  mode: Field.always("live", "Always `live`: the payout is real."),
  payout_id: payoutId,
  status,
  amount_cents: amountCents,
  payout_cents: Field.int("Same as `amount_cents`.", 1_250),
  payout: Field.dollars("Amount", "$12.50"),
  stripe_transfer_id: transferId,
  message: shared.message("$12.50 is being transferred to your account.")
})

const PayoutDry = Field.object("PayoutDry", "A simulated payout. Nothing was paid out.", {
  mode: Field.always("dry_run", "Always `dry_run`: the payout is simulated."),
  would_payout_cents: Field.int("Amount that would be paid out, in cents.", 1_250),
  payout_cents: Field.always(0, "Always `0`: nothing was paid out."),
  payout: Field.string("Always `$0.00`.", "$0.00"),
  message: shared.message("Dry run: $12.50 would be paid out. Nothing changed.")
})

const PayoutShown = Field.object("Payout", "A payout.", {
  id: payoutId,
  amount_cents: amountCents,
  status,
  paid_at: Field.nullableTimestamp("Time of the transfer. `null`: not paid.", "2026-11-20T10:11:13.000Z"),
  created_at: shared.createdAt,
  stripe_transfer_id: transferId,
  failure: Field.nullableString("Reason of the failure. `null`: the payout did not fail.")
})

const MATURING = "Maturing earnings"
const AVAILABLE = "Balance available for payout"
const RESERVED = "Rolling reserve against disputes and chargebacks"
const FROZEN = "Earnings frozen by open disputes"
const OWED = "Debt to consumers for refunds (your next earnings pay it)"

const PayoutList = Field.object("Payouts", "The provider's balance by state, and its payouts.", {
  provider_id: shared.providerId,
  mode: Field.of(
    Schema.Literals(["live", "dry_run"]),
    "`dry_run`: payouts are simulated, and need no payout account.",
    "live"
  ),
  pending_cents: Field.int("Same as `pending_balance_cents`.", 54),
  ...pendingBalance,
  maturing_cents: Field.cents(MATURING, 40),
  maturing_microcents: Field.signedMicrocents(MATURING, 400_000),
  available_cents: Field.cents(AVAILABLE, 10),
  available_microcents: Field.signedMicrocents(AVAILABLE, 101_800),
  reserved_cents: Field.cents(RESERVED, 4),
  reserved_microcents: Field.signedMicrocents(RESERVED, 40_000),
  frozen_cents: Field.cents(FROZEN, 0),
  frozen_microcents: Field.signedMicrocents(FROZEN, 0),
  owed_cents: Field.cents(OWED, 0),
  owed_microcents: Field.signedMicrocents(OWED, 0),
  reserve_lifted: Field.boolean("Whether the operator lifted your rolling reserve.", false),
  maturities: Field.list(
    Schema.Struct({
      available_on: Field.string("Day (UTC) on which the amount becomes available.", "2026-12-01"),
      amount_cents: Field.cents("Amount", 40),
      amount_microcents: Field.signedMicrocents("Amount", 400_000),
      from: Field.of(Schema.Literals(["maturing", "reserved"]), "Current state of the amount.")
    }),
    "Amounts that become available, soonest first; at most 200."
  ),
  stripe_connected: Field.boolean("Whether your payout account can receive payouts."),
  minimum_payout: Field.always("$10.00", "Minimum payout as display text."),
  automatic: Field.boolean("Whether automatic monthly payouts are enabled.", false),
  history: Field.list(PayoutShown, "Payouts, newest first; at most 100."),
  payouts: Field.list(PayoutShown, "Same as `history`.")
})

const SetAutomatic = Field.object("SetAutomatic", "Whether to enable automatic monthly payouts.", {
  enabled: Field.boolean("Whether to enable automatic monthly payouts.")
})

const AutomaticPayouts = Field.object("AutomaticPayouts", "The setting in effect.", {
  provider_id: shared.providerId,
  automatic: Field.boolean("Whether automatic monthly payouts are enabled.")
})

const ACCOUNT_ID = "acct_1QwErTyUiOpAsDfG"
const ONBOARDING_URL = "https://connect.stripe.com/setup/a1B2c3"

const ConnectBody = Field.object("ConnectBody", "Where the payment processor's pages redirect to.", {
  return_url: Field.optional(WebUrl, "URL to return to after onboarding. Default: your dashboard."),
  refresh_url: Field.optional(WebUrl, "URL to return to if the link has expired. Default: your dashboard.")
}).annotate({ examples: [{ return_url: "https://tools.example.org/paid" }] })

const Connected = Field.object(
  "Connected",
  "A link to the payment processor's onboarding, valid once and for a few minutes.",
  {
    provider_id: shared.providerId,
    stripe_account_id: Field.string("ID of your account at the payment processor.", ACCOUNT_ID),
    onboarding_url: Field.string("URL of the payment processor's onboarding page.", ONBOARDING_URL),
    url: Field.string("Same as `onboarding_url`.", ONBOARDING_URL),
    expires_at: Field.timestamp("Time when the link expires.", "2026-11-20T10:16:12.000Z")
  }
)

const Connection = Field.object("Connection", "The payout account, as the payment processor reports it.", {
  provider_id: shared.providerId,
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

/** Both paths are served: clients of the open specification use the one under /api/market. */
const providerSummary = <const I extends string, const P extends `/${string}`>(identifier: I, path: P) =>
  Endpoint.post(identifier, path, {
    access: readBy("provider"),
    summary: "Summarize your earnings",
    description: "Returns gross revenue, platform fee and net earnings of a period.",
    payload: AskSummary,
    success: ProviderSummary
  })

const StripeEvent = Schema.Record(Schema.String, Schema.Unknown).annotate({
  identifier: "StripeEvent",
  description: "An event as Stripe sends it.",
  examples: [
    {
      id: "evt_1QwErTyUiOp",
      object: "event",
      type: "checkout.session.completed",
      created: 1_763_633_472,
      data: { object: { id: "cs_1QwErTyUiOp", object: "checkout.session", payment_status: "paid" } }
    }
  ]
})

const EventReceived = Field.object("EventReceived", "The event was received.", {
  received: Field.always(true),
  outcome: Field.of(
    Schema.Literals(["applied", "repeated", "ignored"]),
    "Whether the event was applied, had been applied before, or does not concern this service."
  )
})

export class PayoutsApi extends HttpApiGroup.make("payouts")
  .add(
    Endpoint.get("overview", "/api/v1/market/providers/overview", {
      access: readBy("provider"),
      summary: "Retrieve your overview",
      description: "Returns your tools, calls, earnings, trust score and disputes of the last 30 days, in one request.",
      success: ProviderOverview
    }),
    providerSummary("providerSummary", "/api/v1/market/billing/provider-summary"),
    providerSummary("providerSummaryMarket", "/api/market/billing/provider-summary"),
    Endpoint.post("connect", "/api/market/connect", {
      access: readBy("provider"),
      summary: "Set up your payout account",
      description:
        "Creates your account at the payment processor on first use, and returns a new onboarding link. In dry run mode, " +
        "payouts need no account, and the response is 503 `NOT_CONFIGURED`.",
      headers: idempotencyHeader,
      payload: ConnectBody,
      success: Connected,
      problems: [502, "NOT_CONFIGURED"]
    }),
    Endpoint.get("connection", "/api/market/connect", {
      access: readBy("provider"),
      summary: "Retrieve your payout account",
      description: "Returns the current status of your account at the payment processor, and its open requirements.",
      success: Connection
    }),
    Endpoint.post("requestPayout", "/api/market/payouts", {
      access: readBy("provider"),
      summary: "Request a payout",
      description:
        "Pays out all whole cents of your available balance, at least $10.00. Earnings mature first, and a part is kept in a " +
        "rolling reserve: see `GET /api/market/payouts`. While a payout is in progress, a further request returns it. In " +
        "dry run mode, the response shows what would be paid out and nothing changes.",
      headers: idempotencyHeader,
      payload: NoContent,
      success: Schema.Union([PayoutMade, PayoutDry]),
      problems: [409, 502, "BELOW_MINIMUM", "NOT_CONFIGURED", "ACCOUNT_FROZEN", "IDEMPOTENCY_CONFLICT"]
    }),
    Endpoint.get("payouts", "/api/market/payouts", {
      access: readBy("provider"),
      summary: "List your payouts",
      description:
        "Returns the last 100 payouts, newest first, and your balance by state. Only `available_cents` can be paid out.",
      success: PayoutList
    }),
    Endpoint.post("setAutomaticPayouts", "/api/market/payouts/automatic", {
      access: writeBy("provider"),
      summary: "Enable automatic payouts",
      description: "Pays out your available balance on the first days of each month (UTC) if it is at least $10.00.",
      payload: SetAutomatic,
      success: AutomaticPayouts
    }),
    Endpoint.post("stripeWebhook", "/api/webhooks/stripe", {
      access: uncached,
      summary: "Receive a Stripe event",
      description:
        "For Stripe. The signature is verified over the raw body. A repeated event has no effect. In dry run mode, the " +
        "response is 503 `NOT_CONFIGURED`.",
      headers: {
        "stripe-signature": Field.of(Schema.String, "Stripe's signature of the body.", SAMPLE_SIGNATURE)
      },
      payload: StripeEvent,
      success: EventReceived,
      problems: [502, "NOT_CONFIGURED"]
    })
  )
  .annotateMerge(Endpoint.about("Payouts", "Earnings and payouts of providers.")) {}

/**
 * The provider's money: earnings, payout account, payouts, and the payment processor's webhook.
 */
import { Schema } from "effect"
import { HttpApiGroup, OpenApi } from "effect/http-api"
import { readBy, uncached, writeBy } from "./Access.ts"
import * as Endpoint from "./Endpoint.ts"
import { AskSummary, ProviderSummary } from "./EarningsBodies.ts"
import * as Field from "./Field.ts"
import { idempotencyHeader } from "./InputSchemas.ts"
import { AutomaticPayouts, NoContent, PayoutDry, PayoutList, PayoutMade, SetAutomatic } from "./PayoutBodies.ts"
import { ConnectBody, Connected, Connection } from "./PayoutAccountBodies.ts"

/** Both paths are served: clients of the open specification use the one under /api/market. */
const providerSummary = <const I extends string>(identifier: I, path: `/${string}`) =>
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
  examples: [{ id: "evt_1QwErTyUiOp", object: "event", type: "checkout.session.completed" }]
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
    providerSummary("providerSummary", "/api/v1/market/billing/provider-summary"),
    providerSummary("providerSummaryMarket", "/api/market/billing/provider-summary"),
    Endpoint.post("connect", "/api/market/connect", {
      access: readBy("provider"),
      summary: "Set up your payout account",
      description: "Creates your account at the payment processor on first use, and returns a new onboarding link.",
      headers: idempotencyHeader,
      payload: ConnectBody,
      success: Connected,
      problems: [502]
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
      problems: [409, 502]
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
      description: "Pays out your available balance on the first day of each month (UTC) if it is at least $10.00.",
      payload: SetAutomatic,
      success: AutomaticPayouts
    }),
    Endpoint.post("stripeWebhook", "/api/webhooks/stripe", {
      access: uncached,
      summary: "Receive a Stripe event",
      description: "For Stripe. The signature is verified over the raw body. A repeated event has no effect.",
      headers: {
        "stripe-signature": Field.of(Schema.String, "Stripe's signature of the body.", "t=1763633472,v1=5257a869e7")
      },
      payload: StripeEvent,
      success: EventReceived,
      problems: [502]
    })
  )
  .annotateMerge(OpenApi.annotations({ title: "Payouts", description: "Earnings and payouts of providers." })) {}

/**
 * The provider's money: earnings, payout account, payouts, and the payment processor's webhook.
 */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { about, KeyAuth, readBy, uncached, writeBy } from "./Access.ts"
import { AskSummary, ProviderSummary } from "./Earnings.ts"
import * as Field from "./Field.ts"
import { idempotencyHeader } from "./InputSchemas.ts"
import { AutomaticPayouts, NoContent, PayoutDry, PayoutList, PayoutMade, SetAutomatic } from "./Payout.ts"
import { ConnectBody, Connected, Connection } from "./PayoutAccount.ts"
import { problems } from "./ProblemSchemas.ts"

/** Both paths are served: clients of the open specification use the one under /api/market. */
const providerSummary = <const I extends string>(identifier: I, path: `/${string}`) =>
  HttpApiEndpoint.post(identifier, path, {
    payload: AskSummary,
    success: ProviderSummary,
    error: problems(400, 401, 403, 413, 415, 422)
  })
    .middleware(KeyAuth)
    .annotateMerge(
      about(
        readBy("provider"),
        "Summarize your earnings",
        "Returns gross revenue, platform fee and net earnings of a period."
      )
    )

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
    HttpApiEndpoint.post("connect", "/api/market/connect", {
      headers: idempotencyHeader,
      payload: ConnectBody,
      success: Connected,
      error: problems(400, 401, 403, 413, 415, 422, 502)
    })
      .middleware(KeyAuth)
      .annotateMerge(
        about(
          readBy("provider"),
          "Set up your payout account",
          "Creates your account at the payment processor on first use, and returns a new onboarding link."
        )
      ),
    HttpApiEndpoint.get("connection", "/api/market/connect", { success: Connection, error: problems(401, 403) })
      .middleware(KeyAuth)
      .annotateMerge(
        about(
          readBy("provider"),
          "Retrieve your payout account",
          "Returns the current status of your account at the payment processor, and its open requirements."
        )
      ),
    HttpApiEndpoint.post("requestPayout", "/api/market/payouts", {
      headers: idempotencyHeader,
      payload: NoContent,
      success: Schema.Union([PayoutMade, PayoutDry]),
      error: problems(400, 401, 403, 409, 413, 415, 422, 502)
    })
      .middleware(KeyAuth)
      .annotateMerge(
        about(
          readBy("provider"),
          "Request a payout",
          "Pays out all whole cents of your available balance, at least $10.00. Earnings mature first, and a part is kept in a " +
            "rolling reserve: see `GET /api/market/payouts`. While a payout is in progress, a further request returns it. In " +
            "dry run mode, the response shows what would be paid out and nothing changes."
        )
      ),
    HttpApiEndpoint.get("payouts", "/api/market/payouts", { success: PayoutList, error: problems(401, 403) })
      .middleware(KeyAuth)
      .annotateMerge(
        about(
          readBy("provider"),
          "List your payouts",
          "Returns the last 100 payouts, newest first, and your balance by state. Only `available_cents` can be paid out."
        )
      ),
    HttpApiEndpoint.post("setAutomaticPayouts", "/api/market/payouts/automatic", {
      headers: idempotencyHeader,
      payload: SetAutomatic,
      success: AutomaticPayouts,
      error: problems(400, 401, 403, 409, 413, 415, 422)
    })
      .middleware(KeyAuth)
      .annotateMerge(
        about(
          writeBy("provider"),
          "Enable automatic payouts",
          "Pays out your available balance on the first day of each month (UTC) if it is at least $10.00."
        )
      ),
    HttpApiEndpoint.post("stripeWebhook", "/api/webhooks/stripe", {
      headers: {
        "stripe-signature": Field.of(Schema.String, "Stripe's signature of the body.", "t=1763633472,v1=5257a869e7")
      },
      payload: StripeEvent,
      success: EventReceived,
      error: problems(400, 413, 415, 422, 502)
    }).annotateMerge(
      about(
        uncached,
        "Receive a Stripe event",
        "For Stripe. The signature is verified over the raw body. A repeated event has no effect."
      )
    )
  )
  .annotateMerge(OpenApi.annotations({ title: "Payouts", description: "Earnings and payouts of providers." })) {}

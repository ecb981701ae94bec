/**
 * The provider's money: what it earned, its account with the payment processor, and its payouts.
 */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { PayoutState } from "../../../domain/payouts/PayoutStore.ts"
import { PayoutId, ProviderId, ToolId } from "../../../domain/shared/Ids.ts"
import { Timestamp } from "../../../domain/shared/Timestamp.ts"
import { Access, KeyAuth, readBy, uncached, writeBy } from "./Access.ts"
import { Display } from "./Fields.ts"
import { idempotencyHeader } from "./IdempotencyHeader.ts"
import { problems } from "./Problem.ts"

const EarningsPeriod = Schema.Literals(["7d", "30d", "90d", "all"])

export const AskSummary = Schema.Struct({ period: Schema.optionalKey(EarningsPeriod) }).annotate({
  identifier: "AskSummary",
  examples: [{ period: "30d" }]
})

const Earned = {
  calls: Schema.Int,
  gross_cents: Schema.Int,
  gross_microcents: Schema.Int,
  platform_fee_cents: Schema.Int,
  platform_fee_microcents: Schema.Int,
  net_cents: Schema.Int,
  net_microcents: Schema.Int
}

const ProviderSummary = Schema.Struct({
  provider: Schema.Struct({ id: ProviderId, name: Schema.String }),
  period: EarningsPeriod,
  platform_fee_rate: Schema.Literal("10%"),
  earnings: Schema.Struct({
    gross_revenue_cents: Schema.Int,
    gross_revenue_microcents: Schema.Int,
    gross_revenue: Display,
    platform_fee_cents: Schema.Int,
    platform_fee_microcents: Schema.Int,
    platform_fee: Display,
    net_earnings_cents: Schema.Int,
    net_earnings_microcents: Schema.Int,
    net_earnings: Display
  }),
  payout: Schema.Struct({
    pending_balance_cents: Schema.Int,
    pending_balance_microcents: Schema.Int,
    pending_balance: Display,
    last_payout_date: Schema.NullOr(Timestamp),
    last_payout_cents: Schema.NullOr(Schema.Int)
  }),
  by_tool: Schema.Array(Schema.Struct({ tool: ToolId, tool_name: Schema.String, ...Earned })),
  by_week: Schema.Array(Schema.Struct({ week_of: Schema.String, ...Earned })),
  gross_revenue_cents: Schema.Int,
  platform_fee_cents: Schema.Int,
  net_earnings_cents: Schema.Int,
  total_calls: Schema.Int
}).annotate({ identifier: "ProviderSummary" })

const WebUrl = Schema.String.check(
  Schema.isMaxLength(2_000),
  Schema.makeFilter((text: string) => {
    const url = URL.parse(text)
    return url !== null && (url.protocol === "https:" || url.protocol === "http:")
      ? undefined
      : "must be an http or https URL"
  })
)

export const ConnectBody = Schema.Struct({
  return_url: Schema.optionalKey(WebUrl),
  refresh_url: Schema.optionalKey(WebUrl)
}).annotate({ identifier: "ConnectBody", examples: [{ return_url: "https://tools.example.org/paid" }] })

const Connected = Schema.Struct({
  provider_id: ProviderId,
  stripe_account_id: Schema.String,
  onboarding_url: Schema.String,
  url: Schema.String,
  expires_at: Timestamp
}).annotate({ identifier: "Connected" })

const Connection = Schema.Struct({
  provider_id: ProviderId,
  status: Schema.Literals(["not_started", "pending", "complete", "restricted"]),
  connected: Schema.Boolean,
  stripe_account_id: Schema.NullOr(Schema.String),
  charges_enabled: Schema.Boolean,
  payouts_enabled: Schema.Boolean,
  details_submitted: Schema.Boolean,
  requirements: Schema.Struct({
    currently_due: Schema.Array(Schema.String),
    eventually_due: Schema.Array(Schema.String),
    errors: Schema.Array(Schema.String)
  }),
  automatic_payouts: Schema.Boolean
}).annotate({ identifier: "Connection" })

const Empty = Schema.Record(Schema.String, Schema.Never).annotate({ identifier: "NoContent", examples: [{}] })

const PayoutMade = Schema.Struct({
  mode: Schema.Literal("live"),
  payout_id: PayoutId,
  status: PayoutState,
  amount_cents: Schema.Int,
  payout_cents: Schema.Int,
  payout: Display,
  stripe_transfer_id: Schema.NullOr(Schema.String),
  message: Schema.String
}).annotate({ identifier: "PayoutMade" })

const PayoutDry = Schema.Struct({
  mode: Schema.Literal("dry_run"),
  would_payout_cents: Schema.Int,
  payout_cents: Schema.Literal(0),
  payout: Display,
  message: Schema.String
}).annotate({ identifier: "PayoutDry" })

const PayoutShown = Schema.Struct({
  id: PayoutId,
  amount_cents: Schema.Int,
  status: PayoutState,
  paid_at: Schema.NullOr(Timestamp),
  created_at: Timestamp,
  stripe_transfer_id: Schema.NullOr(Schema.String),
  failure: Schema.NullOr(Schema.String)
}).annotate({ identifier: "Payout" })

const PayoutList = Schema.Struct({
  provider_id: ProviderId,
  pending_cents: Schema.Int,
  pending_balance_cents: Schema.Int,
  pending_balance: Display,
  maturing_cents: Schema.Int,
  maturing_microcents: Schema.Int,
  available_cents: Schema.Int,
  available_microcents: Schema.Int,
  reserved_cents: Schema.Int,
  reserved_microcents: Schema.Int,
  frozen_cents: Schema.Int,
  frozen_microcents: Schema.Int,
  owed_cents: Schema.Int,
  owed_microcents: Schema.Int,
  reserve_lifted: Schema.Boolean,
  maturities: Schema.Array(
    Schema.Struct({
      available_on: Schema.String,
      amount_cents: Schema.Int,
      amount_microcents: Schema.Int,
      from: Schema.Literals(["maturing", "reserved"])
    })
  ),
  stripe_connected: Schema.Boolean,
  minimum_payout: Schema.Literal("$10.00"),
  automatic: Schema.Boolean,
  history: Schema.Array(PayoutShown),
  payouts: Schema.Array(PayoutShown)
}).annotate({ identifier: "Payouts" })

export const SetAutomatic = Schema.Struct({ enabled: Schema.Boolean }).annotate({
  identifier: "SetAutomatic",
  examples: [{ enabled: true }]
})

/** On both paths: clients of the open specification ask the one under /api/market. */
const providerSummary = <const I extends string>(identifier: I, path: `/${string}`) =>
  HttpApiEndpoint.post(identifier, path, {
    payload: AskSummary,
    success: ProviderSummary,
    error: problems(400, 401, 403, 413, 415, 422)
  })
    .annotate(Access, readBy("provider"))
    .middleware(KeyAuth)
    .annotateMerge(
      OpenApi.annotations({
        summary: "What you earned",
        description: "Gross, fee and net of a period, by tool and by week; the totals are the sums of their parts."
      })
    )

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
      .annotate(Access, readBy("provider"))
      .middleware(KeyAuth)
      .annotateMerge(
        OpenApi.annotations({
          summary: "Get the link to your payout account",
          description: "Opens your account with the payment processor, once, and gives a fresh link to its own pages."
        })
      ),
    HttpApiEndpoint.get("connection", "/api/market/connect", { success: Connection, error: problems(401, 403) })
      .annotate(Access, readBy("provider"))
      .middleware(KeyAuth)
      .annotateMerge(
        OpenApi.annotations({
          summary: "See whether you can be paid",
          description: "As the payment processor sees your account now, with what it still wants to know."
        })
      ),
    HttpApiEndpoint.post("requestPayout", "/api/market/payouts", {
      headers: idempotencyHeader,
      payload: Empty,
      success: Schema.Union([PayoutMade, PayoutDry]),
      error: problems(400, 401, 403, 409, 413, 415, 422, 502)
    })
      .annotate(Access, readBy("provider"))
      .middleware(KeyAuth)
      .annotateMerge(
        OpenApi.annotations({
          summary: "Have your balance paid out",
          description:
            "All whole cents that are available, from $10.00. Earnings mature first, and a part stays in reserve: " +
            "`GET /api/market/payouts` shows when. One payout at a time: asked again meanwhile, the answer is that one. " +
            "A dry run says what would be paid and changes nothing."
        })
      ),
    HttpApiEndpoint.get("payouts", "/api/market/payouts", { success: PayoutList, error: problems(401, 403) })
      .annotate(Access, readBy("provider"))
      .middleware(KeyAuth)
      .annotateMerge(
        OpenApi.annotations({
          summary: "List your payouts",
          description:
            "The newest first, at most a hundred. `pending_cents` is everything you have: what is maturing, available, " +
            "reserved and frozen by disputes. Only `available_cents` can be paid out."
        })
      ),
    HttpApiEndpoint.post("setAutomaticPayouts", "/api/market/payouts/automatic", {
      headers: idempotencyHeader,
      payload: SetAutomatic,
      success: Schema.Struct({ provider_id: ProviderId, automatic: Schema.Boolean }).annotate({
        identifier: "AutomaticPayouts"
      }),
      error: problems(400, 401, 403, 409, 413, 415, 422)
    })
      .annotate(Access, writeBy("provider"))
      .middleware(KeyAuth)
      .annotateMerge(
        OpenApi.annotations({
          summary: "Be paid out every month",
          description: "On the first day of each month, UTC, without asking, where at least $10.00 are there."
        })
      ),
    HttpApiEndpoint.post("stripeWebhook", "/api/webhooks/stripe", {
      headers: { "stripe-signature": Schema.String },
      payload: Schema.Record(Schema.String, Schema.Unknown).annotate({
        identifier: "StripeEvent",
        examples: [{ id: "evt_1QwErTyUiOp", object: "event", type: "checkout.session.completed" }]
      }),
      success: Schema.Struct({
        received: Schema.Literal(true),
        outcome: Schema.Literals(["applied", "repeated", "ignored"])
      }).annotate({ identifier: "EventReceived" }),
      error: problems(400, 413, 415, 422, 502)
    })
      .annotate(Access, uncached)
      .annotateMerge(
        OpenApi.annotations({
          summary: "For Stripe: what happened there",
          description: "Signed by Stripe, checked over the raw body. The same event again has no second effect."
        })
      )
  )
  .annotateMerge(
    OpenApi.annotations({ title: "Payouts", description: "What providers earn, and how it reaches them." })
  ) {}

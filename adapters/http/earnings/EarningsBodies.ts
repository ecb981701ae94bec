/**
 * A provider's earnings on the wire.
 */
import { Schema } from "effect"
import * as Field from "../contract/Field.ts"
import { feeFields } from "../contract/PlatformFeeBodies.ts"
import * as shared from "../contract/SharedFields.ts"

const Period = Schema.Literals(["7d", "30d", "90d", "all"])

export const AskSummary = Field.object("AskSummary", "The period of the summary.", {
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
export const pendingBalance = {
  pending_balance_cents: Field.cents(PENDING, 54),
  pending_balance: Field.dollars(PENDING, "$0.54")
}

export const ProviderSummary = Field.object(
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

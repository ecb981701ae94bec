/**
 * What the first tab of each console shows, in one body.
 */
import { Schema } from "effect"
import { DisputeId } from "../../../domain/trust/DisputeStore.ts"
import { VerificationLevel } from "../../../domain/trust/TrustScore.ts"
import * as Field from "../contract/Field.ts"
import { DEMO_TOOL, KEY_ID } from "../contract/SampleValues.ts"
import * as shared from "../contract/SharedFields.ts"
import { FreeTierList, UsageSummary } from "../metering/UsageBodies.ts"
import { Balance } from "./BalanceBodies.ts"

export const ConsumerOverview = Field.object("ConsumerOverview", "Your balance, usage and free calls.", {
  balance: Field.of(Balance, "Your balance, holds and budgets."),
  usage: Field.of(UsageSummary, "Your usage of the period."),
  free_tiers: Field.of(FreeTierList, "Your free calls of the current month."),
  timestamp: shared.answeredAt
})

const NextDispute = Schema.Struct({
  dispute_id: Field.of(DisputeId, "ID of the dispute.", KEY_ID),
  respond_by: Field.timestamp("Deadline of your response.")
})

export const ProviderOverview = Field.object("ProviderOverview", "Your tools, calls, money, trust and disputes.", {
  provider_id: shared.providerId,
  listed_tools: Field.int("Number of your listed tools.", 3),
  qualified_name: Field.nullableString("Qualified name of a listed tool. `null`: none is listed.", DEMO_TOOL),
  calls_in_all: Field.int("Number of billed calls since you registered.", 18_420),
  usage: Field.of(UsageSummary, "Calls of your tools in the last 30 days."),
  net_earnings_microcents: Field.microcents("Earnings after the platform fee in the last 30 days", 12_500_000),
  available_cents: Field.cents("Amount available for payout", 1_250),
  payout_account_complete: Field.boolean("Whether the payment processor can pay you."),
  verification_level: Field.of(VerificationLevel, "Highest verified level.", "domain"),
  trust_score: Field.int("Trust score from 0 to 100.", 82),
  open_disputes: Field.int("Disputes that need your response, of the newest 100 that are open.", 1),
  next_dispute: Field.nullable(NextDispute, "The one with the next deadline. `null`: none needs your response."),
  timestamp: shared.answeredAt
})

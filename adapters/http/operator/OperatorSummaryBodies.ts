/**
 * What the operator looks at first: solvency, what waits, and health.
 */
import { Schema } from "effect"
import * as Field from "../contract/Field.ts"
import { Health } from "../platform/HealthBodies.ts"
import { solvencyFields } from "../payments/MoneyApi.ts"
import { answeredAt } from "../contract/SharedFields.ts"

export const Solvency = Field.object("Solvency", "Whether all spendable funds are backed.", {
  spendable_microcents: Field.signedMicrocents(
    "Funds that can be spent or withdrawn (consumer and provider balances, platform funds, clearing)",
    52_000_000
  ),
  received_microcents: Field.signedMicrocents(
    "Funds received by the payment processor (including deposits)",
    60_000_000
  ),
  sent_microcents: Field.signedMicrocents("Funds sent by the payment processor", 8_000_000),
  recorded_losses_microcents: Field.signedMicrocents(
    "Recorded losses (unrecovered chargebacks and refunds, processor fees beyond platform funds)",
    0
  ),
  shortfall_microcents: solvencyFields.shortfall_microcents,
  unbacked_microcents: solvencyFields.unbacked_microcents,
  platform_funds_microcents: Field.signedMicrocents("Platform funds (fees not withdrawn, and deposits)", 1_200_000),
  claims_on_providers_microcents: Field.signedMicrocents("Debt of providers to consumers for refunds", 0),
  claims_on_platform_microcents: Field.signedMicrocents("Debt of the platform to consumers for fees", 0),
  advanced_microcents: Field.signedMicrocents("Advances of the platform for providers (not repaid yet)", 0),
  timestamp: answeredAt
})

const Waiting = Schema.Struct({
  disputes: Field.int("Contested disputes, which wait for a decision.", 2),
  next_decision_at: Field.nullableTimestamp("Earliest deadline of these. `null`: none waits."),
  frozen_consumers: Field.int("Frozen consumers.", 1),
  open_payouts: Field.int("Payouts that are requested or transferring.", 3),
  failed_payouts: Field.int("Payouts that failed, including those that were retried.", 1)
})

export const OperatorSummary = Field.object("OperatorSummary", "Solvency, what waits for the operator, and health.", {
  solvency: Field.of(Solvency, "Whether all spendable funds are backed."),
  waiting: Field.of(Waiting, "Numbers of what waits, each counted up to 10,000."),
  health: Field.of(Health, "Health of the node that answers."),
  timestamp: answeredAt
})

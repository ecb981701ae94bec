/**
 * Payouts and the provider's balance on the wire.
 */
import { Schema } from "effect"
import { PayoutState } from "../../../domain/payouts/PayoutStore.ts"
import { PayoutId } from "../../../domain/shared/Ids.ts"
import * as Field from "./Field.ts"
import { pendingBalance } from "./EarningsBodies.ts"
import { PAYOUT_ID } from "./SampleValues.ts"
import * as shared from "./SharedFields.ts"

export const NoContent = Schema.Record(Schema.String, Schema.Never).annotate({
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

export const PayoutMade = Field.object("PayoutMade", "The payout.", {
  mode: Field.always("live", "Always `live`: the payout is real."),
  payout_id: payoutId,
  status,
  amount_cents: amountCents,
  payout_cents: Field.int("Same as `amount_cents`.", 1_250),
  payout: Field.dollars("Amount", "$12.50"),
  stripe_transfer_id: transferId,
  message: shared.message("$12.50 is being transferred to your account.")
})

export const PayoutDry = Field.object("PayoutDry", "A simulated payout. Nothing was paid out.", {
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

export const PayoutList = Field.object("Payouts", "The provider's balance by state, and its payouts.", {
  provider_id: shared.providerId,
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

export const SetAutomatic = Field.object("SetAutomatic", "Whether to enable automatic monthly payouts.", {
  enabled: Field.boolean("Whether to enable automatic monthly payouts.")
})

export const AutomaticPayouts = Field.object("AutomaticPayouts", "The setting in effect.", {
  provider_id: shared.providerId,
  automatic: Field.boolean("Whether automatic monthly payouts are enabled.")
})

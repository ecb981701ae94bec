/**
 * Withdrawals of unspent funds on the wire.
 */
import { Schema } from "effect"
import { WITHDRAWAL_CENTS_MAX, WITHDRAWAL_CENTS_MIN } from "../../../domain/payments/Withdrawals.ts"
import { WithdrawalPartState } from "../../../domain/payments/WithdrawalStore.ts"
import { LoadId, WithdrawalId } from "../../../domain/shared/Ids.ts"
import * as Field from "./Field.ts"
import { IntBetween } from "./InputSchemas.ts"
import { BUDGET_ID } from "./SampleValues.ts"
import { createdAt } from "./SharedFields.ts"

export const WithdrawBalance = Field.object("WithdrawBalance", "The amount to withdraw.", {
  amount_cents: Field.of(IntBetween(WITHDRAWAL_CENTS_MIN, WITHDRAWAL_CENTS_MAX), "Amount in cents.", 500)
})

const amounts = {
  amount_cents: Field.int("Amount debited from the balance, in cents.", 500),
  processor_fee_cents: Field.int("Share of the payment processor's fee, in cents. It is not refunded.", 45),
  refund_cents: Field.int("Amount refunded to the payment method, in cents.", 455)
}

const Refund = Field.object("WithdrawalRefund", "A refund at the payment processor.", {
  load_id: Field.of(LoadId, "ID of the refunded load.", BUDGET_ID),
  status: Field.of(
    WithdrawalPartState,
    "Status of the refund. `returned`: the payment processor could not deliver it.",
    "paid"
  ),
  ...amounts,
  refund_id: Field.nullableString("ID of the refund at the payment processor. `null` until it exists.", "re_1Nv0FG"),
  failure: Field.nullableString("Reason of the failure. `null`: the refund did not fail.")
})

export const Withdrawal = Field.object(
  "Withdrawal",
  "A withdrawal of unspent funds to the payment methods that paid for them.",
  {
    mode: Field.of(Schema.Literals(["dry_run", "live"]), "`dry_run`: the refunds are simulated.", "live"),
    withdrawal_id: Field.of(WithdrawalId, "ID of the withdrawal.", BUDGET_ID),
    status: Field.of(
      Schema.Literals(["pending", "paid", "partly_paid", "failed"]),
      "Status of the withdrawal. `partly_paid`: some refunds failed; their amounts are back in the balance.",
      "paid"
    ),
    ...amounts,
    created_at: createdAt,
    refunds: Field.list(Refund, "Refunds, one per load.")
  }
)

export const WithdrawalList = Field.object("Withdrawals", "Your withdrawals, and the amount that can be withdrawn.", {
  withdrawable_cents: Field.int("Amount that can be withdrawn, in cents.", 2_000),
  withdrawals: Field.list(Withdrawal, "Withdrawals, newest first."),
  total: Field.int("Number of withdrawals in the list.", 1)
})

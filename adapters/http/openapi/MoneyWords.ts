/**
 * Words of balances, loads, budgets, and the books.
 */
import { TOOL_ID } from "./SharedWords.ts"
import type { Words } from "./Vocabulary.ts"

const BUDGET_ID = "0193fa03-5e6f-7081-92a3-b4c5d6e7f809"

export const moneyWords: Words = {
  "Balance.": ["What you have, what open calls have reserved of it, and what your budgets leave."],
  "Balance.name": ["The account's name.", "Research agent"],
  "Balance.balance": ["The balance, for people.", "$5.00"],
  "Balance.balance_cents": ["The balance in whole cents, rounded toward zero.", 500],
  "Balance.balance_microcents": ["The balance, exact.", 5_000_000],
  "Balance.held_microcents": ["Reserved by calls under way.", 500],
  available_microcents: ["What a new call may use: the balance less what is held.", 4_999_500],
  frozen: ["Whether the account is frozen. A frozen account cannot call tools; it can read and load.", false],
  frozen_reason: ["Why the account is frozen; null where it is not.", null],
  budgets: ["Your budgets."],

  "LoadBalance.": ["How much to load."],
  amount_cents: ["In whole cents.", 500],
  "LoadedDry.": ["The balance has grown; nobody has paid."],
  mode: ["Whether anybody paid: in a dry run nobody did."],
  previous_balance_cents: ["The balance before, in whole cents.", 0],
  added_cents: ["What was added, in whole cents.", 500],
  new_balance_cents: ["The balance now, in whole cents.", 500],
  "LoadedDry.balance_cents": ["The same as `new_balance_cents`.", 500],
  new_balance: ["The balance now, for people.", "$5.00"],
  "LoadedDry.message": [
    "What happened, in a sentence for people.",
    "Dry run: the balance has grown and nobody has paid."
  ],

  "WithdrawBalance.": ["How much to withdraw."],
  "Withdrawal.": ["Unspent funds on their way back to the payment methods that brought them."],
  "Withdrawal.mode": ["`dry_run`: the refund is simulated.", "live"],
  withdrawal_id: ["The withdrawal.", BUDGET_ID],
  "Withdrawal.status": ["`partly_paid`: some refunds failed; their money is in the balance again.", "paid"],
  "Withdrawal.amount_cents": ["What left the balance.", 500],
  processor_fee_cents: ["What the processor kept of the payment, pro rata. It is not refunded.", 45],
  refund_cents: ["What goes back to the payment method.", 455],
  refunds: ["One for each load that brought the money."],
  "WithdrawalRefund.": ["A refund at the payment processor."],
  load_id: ["The load that brought the money.", BUDGET_ID],
  "WithdrawalRefund.status": [
    "How far the refund is. `returned`: the processor could not deliver it after all.",
    "paid"
  ],
  "WithdrawalRefund.amount_cents": ["What left the balance.", 500],
  refund_id: ["The refund at the payment processor; null until it is made.", "re_1Nv0FG"],
  "WithdrawalRefund.failure": ["Why the refund failed; null where it did not.", null],
  "Withdrawals.": ["Your withdrawals."],
  withdrawable_cents: ["What can be withdrawn now.", 2_000],
  withdrawals: ["The withdrawals, newest first."],
  limit_cents: ["The most that can be loaded in 24 hours, in cents.", 100_000],
  left_cents: ["What of it can be loaded now, in cents.", 2_500],
  retry_at: ["When the amount can be loaded.", "2026-11-21T09:29:58.412Z"],
  chargeback_id: ["The chargeback at the payment processor.", "dp_1Nv0FG"],
  owed_cents: ["The debt, in cents.", 1_200],

  "Budget.": ["A cap on your own spending."],
  "SetBudget.": ["A cap, and what it covers."],
  "SetBudget.tool_id": ["Covers calls of this tool only."],
  "SetBudget.provider_id": ["Covers calls of this provider's tools only."],
  "SetBudget.period": ["How long until it begins anew."],
  "Budgets.": ["Your budgets."],
  "OneBudget.": ["The budget holds from now on."],
  "RemovedBudget.": ["The budget is gone."],
  budget: ["The budget."],
  budget_id: ["The budget.", BUDGET_ID],
  "Budget.tool_id": ["Covers calls of this tool only; null: of every tool.", TOOL_ID],
  "Budget.provider_id": ["Covers calls of this provider's tools only; null: of every provider.", null],
  "Budget.period": ["How long until it begins anew."],
  cap_microcents: ["The most that may be spent in a period.", 5_000_000],
  spent_microcents: ["Spent in this period.", 602_000],
  held_microcents: ["Reserved by calls under way.", 500],
  left_microcents: ["What is left in this period.", 4_397_500],
  resets_at: ["When it begins anew; null: never.", "2026-11-21T00:00:00.000Z"],
  removed: ["Always true."],

  "TrialBalance.": ["The books in sums: what was debited equals what was credited."],
  accounts: ["One row for each kind of account."],
  account: ["The kind of account.", "wallet"],
  credits_microcents: ["All that was credited, exact.", "5000000"],
  debits_microcents: ["All that was debited, exact.", "602000"],
  "TrialBalance.balance_microcents": ["Credits less debits.", 4398000],
  total_credits_microcents: ["Over all accounts.", "5602000"],
  total_debits_microcents: ["Over all accounts: the same.", "5602000"],
  balanced: ["Whether the two are equal.", true]
}

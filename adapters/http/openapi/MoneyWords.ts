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

/**
 * A consumer's money, and the trial balance.
 */
import { Schema } from "effect"
import { HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { BudgetId, BudgetPeriod } from "../../../domain/ledger/Budgets.ts"
import { LOAD_CENTS_MAX, LOAD_CENTS_MIN } from "../../../domain/payments/Loads.ts"
import {
  WITHDRAWAL_CENTS_MAX,
  WITHDRAWAL_CENTS_MIN,
  WithdrawalPartState
} from "../../../domain/payments/Withdrawals.ts"
import { LoadId, ProviderId, ToolId, WithdrawalId } from "../../../domain/shared/Ids.ts"
import { DisputeId } from "../../../domain/trust/DisputeStore.ts"
import { VERIFICATION_LEVELS } from "../../../domain/trust/TrustScore.ts"
import * as Endpoint from "../contract/Endpoint.ts"
import { payoutBy, publicRead, readBy, writeBy } from "../contract/Endpoint.ts"
import * as Field from "../contract/Field.ts"
import { IntBetween } from "../contract/InputSchemas.ts"
import { BASE_URL, BUDGET_ID, DEMO_TOOL, KEY_ID, TOOL_ID } from "../contract/SampleValues.ts"
import * as shared from "../contract/SharedFields.ts"
import { FreeTierList, periodQuery, UsageSummary } from "../metering/CallsApi.ts"

// A consumer's balance and budgets on the wire.

const budgetId = Field.of(BudgetId, "ID of the budget.", BUDGET_ID)
const budgetLimit = Field.microcents("Limit of the spending per period", 5_000_000)

const Budget = Field.object("Budget", "A limit for your own spending.", {
  budget_id: budgetId,
  tool_id: Field.nullable(ToolId, "ID of the tool that the budget covers. `null`: every tool.", TOOL_ID),
  provider_id: Field.nullable(ProviderId, "ID of the provider whose tools the budget covers. `null`: every provider."),
  cap_microcents: budgetLimit,
  spent_microcents: Field.microcents("Amount spent in this period", 602_000),
  held_microcents: Field.microcents("Holds of calls in flight", 500),
  left_microcents: Field.microcents("Amount left in this period", 4_397_500),
  period: Field.of(BudgetPeriod, "Period after which the budget resets; `total`: never."),
  resets_at: Field.nullableTimestamp("Time when the budget resets. `null`: never.", "2026-11-21T00:00:00.000Z")
})

const budgets = Field.list(Budget, "Your budgets.")

const Balance = Field.object("Balance", "Your balance, holds and budgets.", {
  agent_id: shared.sameAgentId,
  consumer_id: shared.consumerId,
  name: Field.string("Name of the account.", "Research agent"),
  balance_microcents: Field.microcents("Balance", 5_000_000),
  balance_cents: Field.cents("Balance", 500),
  balance: Field.dollars("Balance", "$5.00"),
  debt_microcents: Field.microcents("Debt from reversed payments (the next load pays it first)", 0),
  held_microcents: Field.microcents("Holds of calls in flight", 500),
  available_microcents: Field.microcents("Available balance (balance less holds)", 4_999_500),
  frozen: shared.frozen,
  frozen_reason: shared.frozenReason,
  budgets,
  rate_limit_rpm: shared.rateLimitRpm,
  load_balance_url: Field.string("URL for adding funds.", `${BASE_URL}/api/market/balance/load`)
})

// One body has all that the first tab of a console shows.

const ConsumerOverview = Field.object("ConsumerOverview", "Your balance, usage and free calls.", {
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
  verification_level: Field.of(Schema.Literals(VERIFICATION_LEVELS), "Highest verified level.", "domain"),
  trust_score: Field.int("Trust score from 0 to 100.", 82),
  open_disputes: Field.int("Disputes that need your response, of the newest 100 that are open.", 1),
  next_dispute: Field.nullable(NextDispute, "The one with the next deadline. `null`: none needs your response."),
  timestamp: shared.answeredAt
})

const SetBudget = Field.object("SetBudget", "The limit, its period, and what it covers.", {
  cap_microcents: budgetLimit,
  period: Field.optional(BudgetPeriod, "Period after which the budget resets; `total`: never. Default: `month`."),
  tool_id: Field.optional(ToolId, "ID of the tool that the budget covers. Default: every tool."),
  provider_id: Field.optional(ProviderId, "ID of the provider whose tools the budget covers. Default: every provider.")
}).annotate({ examples: [{ cap_microcents: 5_000_000 as never, period: "day" }] })

const BudgetList = Field.object("Budgets", "Your budgets.", {
  budgets,
  total: Field.int("Number of budgets.", 1)
})

const OneBudget = Field.object("OneBudget", "The budget in effect.", {
  budget: Field.of(Budget, "The budget.")
})

const RemovedBudget = Field.object("RemovedBudget", "The budget is removed.", {
  removed: Field.always(true),
  budget_id: budgetId
})

const LoadBalance = Field.object("LoadBalance", "The amount to load.", {
  amount_cents: Field.of(IntBetween(LOAD_CENTS_MIN, LOAD_CENTS_MAX), "Amount in cents.", 500)
})

const LoadedDry = Field.object("LoadedDry", "A simulated load: the balance is credited without a payment.", {
  mode: Field.always("dry_run", "Always `dry_run`: the load is simulated."),
  previous_balance_cents: Field.cents("Balance before the load", 0),
  added_cents: Field.int("Added amount in cents.", 500),
  new_balance_cents: Field.cents("Balance after the load", 500),
  balance_cents: Field.int("Same as `new_balance_cents`.", 500),
  new_balance: Field.dollars("Balance after the load", "$5.00"),
  message: shared.message("Dry run: $5.00 of test credit added.")
})

const checkoutUrl = "https://checkout.stripe.com/c/pay/cs_live_a1B2c3"

const LoadLive = Field.object("LoadLive", "A checkout session. The balance is credited once the payment succeeds.", {
  mode: Field.always("live", "Always `live`: the load needs a payment."),
  checkout_url: Field.string("URL of the payment processor's checkout page.", checkoutUrl),
  url: Field.string("Same as `checkout_url`.", checkoutUrl),
  session_id: Field.string("ID of the checkout session at the payment processor.", "cs_live_a1B2c3"),
  amount_cents: Field.int("Amount in cents.", 500),
  amount: Field.dollars("Amount", "$5.00"),
  message: Field.string(
    "Next step in one sentence.",
    "Pay at checkout_url. The balance is credited once the payment succeeds."
  )
})

const WithdrawBalance = Field.object("WithdrawBalance", "The amount to withdraw.", {
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

const Withdrawal = Field.object(
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
    created_at: shared.createdAt,
    refunds: Field.list(Refund, "Refunds, one per load.")
  }
)

const WithdrawalList = Field.object("Withdrawals", "Your withdrawals, and the amount that can be withdrawn.", {
  withdrawable_cents: Field.int("Amount that can be withdrawn, in cents: unspent paid funds, without credit.", 2_000),
  withdrawals: Field.list(Withdrawal, "Withdrawals, newest first."),
  total: Field.int("Number of withdrawals in the list.", 1)
})

export const solvencyFields = {
  unbacked_microcents: Field.signedMicrocents(
    "Spendable funds without backing (other than 0 only by a fault of the service)",
    0
  ),
  shortfall_microcents: Field.signedMicrocents("Recorded losses that the operator has not funded yet", 0)
}

const TrialBalance = Field.object("TrialBalance", "Credits and debits by type of account.", {
  accounts: Field.list(
    Schema.Struct({
      account: Field.string("Type of the accounts.", "wallet"),
      credits_microcents: Field.signedMicrocents("Total credits", 5_000_000),
      debits_microcents: Field.signedMicrocents("Total debits", 602_000),
      balance_microcents: Field.signedMicrocents("Credits less debits", 4_398_000)
    }),
    "Totals by type of account."
  ),
  total_credits_microcents: Field.signedMicrocents("Total credits of all accounts", 5_602_000),
  total_debits_microcents: Field.signedMicrocents("Total debits of all accounts", 5_602_000),
  balanced: Field.boolean("Whether total credits equal total debits."),
  ...solvencyFields,
  timestamp: shared.answeredAt
})

export class MoneyApi extends HttpApiGroup.make("money")
  .add(
    Endpoint.get("balance", "/api/v1/market/balance", {
      access: readBy("consumer"),
      summary: "Retrieve your balance",
      description: "Returns your balance, the holds of calls in flight, and budgets.",
      success: Balance
    }),
    Endpoint.get("overview", "/api/v1/market/consumers/overview", {
      access: readBy("consumer"),
      summary: "Retrieve your overview",
      description: "Returns your balance, your usage of a period and your free calls of this month, in one request.",
      query: { period: periodQuery },
      success: ConsumerOverview
    }),
    Endpoint.post("load", "/api/market/balance/load", {
      access: writeBy("consumer"),
      summary: "Add funds",
      description:
        "In live mode, returns the URL of a checkout page; the balance is credited once the payment succeeds. In dry run " +
        "mode, the balance is credited immediately without a payment. `mode` in the response says which.",
      payload: LoadBalance,
      success: Schema.Union([LoadedDry, LoadLive]),
      problems: [502, "LOAD_LIMIT_REACHED", "NOT_CONFIGURED"]
    }),
    Endpoint.post("withdraw", "/api/v1/market/balance/withdraw", {
      access: payoutBy("consumer"),
      summary: "Withdraw unspent funds",
      description:
        "Refunds unspent funds to the payment methods that paid for them, at most the amount of each load. The payment " +
        "processor's fee (`processor_fee_cents`) is not refunded. Credits cannot be withdrawn. In dry run mode, the " +
        "refunds are simulated.",
      payload: WithdrawBalance,
      success: Withdrawal.pipe(HttpApiSchema.status(201)),
      problems: [502, "ACCOUNT_FROZEN", "DEBT_OUTSTANDING", "NOT_WITHDRAWABLE"]
    }),
    Endpoint.get("listWithdrawals", "/api/v1/market/balance/withdraw", {
      access: readBy("consumer"),
      summary: "List your withdrawals",
      description: "Returns the last 100 withdrawals, newest first, and the amount that can be withdrawn.",
      success: WithdrawalList
    }),
    Endpoint.get("listBudgets", "/api/v1/market/budgets", {
      access: readBy("consumer"),
      summary: "List your budgets",
      description: "Returns your budgets, with the amounts spent and left.",
      success: BudgetList
    }),
    Endpoint.post("setBudget", "/api/v1/market/budgets", {
      access: writeBy("consumer"),
      summary: "Set a budget",
      description:
        "Limits your spending. A call that exceeds a budget that covers it is rejected with 402 `BUDGET_EXCEEDED`.",
      payload: SetBudget,
      success: OneBudget.pipe(HttpApiSchema.status(201))
    }),
    Endpoint.delete("removeBudget", "/api/v1/market/budgets/:budget_id", {
      access: writeBy("consumer"),
      summary: "Remove a budget",
      description: "The budget no longer limits your calls.",
      params: { budget_id: budgetId },
      success: RemovedBudget
    }),
    Endpoint.get("trialBalance", "/api/v1/market/ledger/trial-balance", {
      access: publicRead,
      summary: "Retrieve the trial balance",
      description:
        "Returns credits and debits by type of account. Total debits equal total credits, and `unbacked_microcents` is 0: " +
        "funds that were not received cannot be spent or withdrawn.",
      success: TrialBalance
    })
  )
  .annotateMerge(Endpoint.about("Money", "Balance, loads, budgets and trial balance.")) {}

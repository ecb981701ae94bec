/**
 * A consumer's balance, its loads and its budgets on the wire.
 */
import { BudgetPeriod } from "../../../domain/ledger/BudgetPeriod.ts"
import { BudgetId } from "../../../domain/ledger/BudgetStore.ts"
import { LOAD_CENTS_MAX, LOAD_CENTS_MIN } from "../../../domain/payments/Loads.ts"
import { ProviderId, ToolId } from "../../../domain/shared/Ids.ts"
import * as Field from "./Field.ts"
import { IntBetween } from "./InputSchemas.ts"
import { BASE_URL, BUDGET_ID, TOOL_ID } from "./SampleValues.ts"
import * as shared from "./SharedFields.ts"

export const budgetId = Field.of(BudgetId, "ID of the budget.", BUDGET_ID)
const limit = Field.microcents("Limit of the spending per period", 5_000_000)

const Budget = Field.object("Budget", "A limit for your own spending.", {
  budget_id: budgetId,
  tool_id: Field.nullable(ToolId, "ID of the tool that the budget covers. `null`: every tool.", TOOL_ID),
  provider_id: Field.nullable(ProviderId, "ID of the provider whose tools the budget covers. `null`: every provider."),
  cap_microcents: limit,
  spent_microcents: Field.microcents("Amount spent in this period", 602_000),
  held_microcents: Field.microcents("Holds of calls in flight", 500),
  left_microcents: Field.microcents("Amount left in this period", 4_397_500),
  period: Field.of(BudgetPeriod, "Period after which the budget resets; `total`: never."),
  resets_at: Field.nullableTimestamp("Time when the budget resets. `null`: never.", "2026-11-21T00:00:00.000Z")
})

export const SetBudget = Field.object("SetBudget", "The limit, its period, and what it covers.", {
  cap_microcents: limit,
  period: Field.optional(BudgetPeriod, "Period after which the budget resets; `total`: never. Default: `month`."),
  tool_id: Field.optional(ToolId, "ID of the tool that the budget covers. Default: every tool."),
  provider_id: Field.optional(ProviderId, "ID of the provider whose tools the budget covers. Default: every provider.")
}).annotate({ examples: [{ cap_microcents: 5_000_000 as never, period: "day" }] })

const budgets = Field.list(Budget, "Your budgets.")

export const BudgetList = Field.object("Budgets", "Your budgets.", {
  budgets,
  total: Field.int("Number of budgets.", 1)
})

export const OneBudget = Field.object("OneBudget", "The budget in effect.", {
  budget: Field.of(Budget, "The budget.")
})

export const RemovedBudget = Field.object("RemovedBudget", "The budget is removed.", {
  removed: Field.always(true),
  budget_id: budgetId
})

export const Balance = Field.object("Balance", "Your balance, holds and budgets.", {
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

export const LoadBalance = Field.object("LoadBalance", "The amount to load.", {
  amount_cents: Field.of(IntBetween(LOAD_CENTS_MIN, LOAD_CENTS_MAX), "Amount in cents.", 500)
})

export const LoadedDry = Field.object("LoadedDry", "A simulated load: the balance is credited without a payment.", {
  mode: Field.always("dry_run", "Always `dry_run`: the load is simulated."),
  previous_balance_cents: Field.cents("Balance before the load", 0),
  added_cents: Field.int("Added amount in cents.", 500),
  new_balance_cents: Field.cents("Balance after the load", 500),
  balance_cents: Field.int("Same as `new_balance_cents`.", 500),
  new_balance: Field.dollars("Balance after the load", "$5.00"),
  message: shared.message("Dry run: $5.00 of test credit added.")
})

const checkoutUrl = "https://checkout.stripe.com/c/pay/cs_live_a1B2c3"

export const LoadLive = Field.object(
  "LoadLive",
  "A checkout session. The balance is credited once the payment succeeds.",
  {
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
  }
)

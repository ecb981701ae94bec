/**
 * A consumer's balance and budgets on the wire.
 */
import { BudgetId, BudgetPeriod } from "../../../domain/ledger/Budgets.ts"
import { ProviderId, ToolId } from "../../../domain/shared/Ids.ts"
import * as Field from "../contract/Field.ts"
import { BASE_URL, BUDGET_ID, TOOL_ID } from "../contract/SampleValues.ts"
import * as shared from "../contract/SharedFields.ts"

export const budgetId = Field.of(BudgetId, "ID of the budget.", BUDGET_ID)
export const budgetLimit = Field.microcents("Limit of the spending per period", 5_000_000)

export const Budget = Field.object("Budget", "A limit for your own spending.", {
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

export const budgets = Field.list(Budget, "Your budgets.")

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

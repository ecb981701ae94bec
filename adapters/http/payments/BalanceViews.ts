/**
 * A consumer's balance and budgets as the API shows them.
 */
import { DateTime, Effect, Option } from "effect"
import type { KeyOwner } from "../../../domain/accounts/Principal.ts"
import { Budgets, type BudgetStatus, resetsAt } from "../../../domain/ledger/Budgets.ts"
import { Ledger } from "../../../domain/ledger/Ledger.ts"
import { FreezeStore } from "../../../domain/payments/AccountFreezes.ts"
import { formatDollars, Microcents, toCents, zero } from "../../../domain/shared/Microcents.ts"
import { BaseUrl } from "../contract/BaseUrl.ts"

type Consumer = Extract<KeyOwner, { readonly role: "consumer" }>

export const balanceView = Effect.gen(function* () {
  const ledger = yield* Ledger
  const budgets = yield* Budgets
  const freezes = yield* FreezeStore
  const baseUrl = yield* BaseUrl

  const balanceOf = Effect.fnUntraced(function* (caller: Consumer) {
    const wallet = yield* ledger.wallet(caller.ownerId)
    const { owedMicrocents } = yield* ledger.funds(caller.ownerId)
    const freeze = Option.getOrUndefined(yield* freezes.find(caller.ownerId))
    const amount = wallet.credits - wallet.debits
    const now = yield* DateTime.now
    return {
      agent_id: caller.ownerId,
      consumer_id: caller.ownerId,
      name: caller.name,
      balance_microcents: Microcents.make(amount),
      balance_cents: toCents(amount),
      balance: formatDollars(amount),
      debt_microcents: Microcents.make(owedMicrocents),
      held_microcents: Microcents.make(wallet.held),
      available_microcents: Microcents.make(wallet.available),
      frozen: freeze !== undefined,
      frozen_reason: freeze?.reason ?? null,
      budgets: (yield* budgets.list(caller.ownerId)).map((budget) => budgetView(budget, now)),
      rate_limit_rpm: caller.rateLimitRpm,
      load_balance_url: `${baseUrl}/api/market/balance/load`
    }
  })
  return balanceOf
})

export const budgetView = (budget: BudgetStatus, now: DateTime.Utc) => {
  const left = budget.cap - budget.spentMicrocents - budget.heldMicrocents
  return {
    budget_id: budget.id,
    tool_id: budget.toolId ?? null,
    provider_id: budget.providerId ?? null,
    cap_microcents: budget.cap,
    spent_microcents: Microcents.make(budget.spentMicrocents),
    held_microcents: Microcents.make(budget.heldMicrocents),
    left_microcents: left > 0n ? Microcents.make(left) : zero,
    period: budget.period,
    resets_at: resetsAt(budget.period, now) ?? null
  }
}

/**
 * Balances, loads and the trial balance over HTTP.
 */
import { DateTime, Effect } from "effect"
import { resetsAt } from "../../../domain/ledger/BudgetPeriod.ts"
import { Budgets } from "../../../domain/ledger/Budgets.ts"
import type { BudgetStanding } from "../../../domain/ledger/BudgetStore.ts"
import { Ledger } from "../../../domain/ledger/Ledger.ts"
import { Loads } from "../../../domain/payments/Loads.ts"
import { formatDollars, fromCents, Microcents, toCents, zero } from "../../../domain/shared/Microcents.ts"
import { format } from "../../../domain/shared/Timestamp.ts"
import { MoneyApi } from "../api/MoneyApi.ts"
import { BaseUrl } from "../BaseUrl.ts"
import { idempotencyKey } from "../pipeline/IdempotencyKey.ts"
import { route } from "../pipeline/Route.ts"

const { endpoints } = MoneyApi

export const moneyRoutes = Effect.gen(function* () {
  const ledger = yield* Ledger
  const loads = yield* Loads
  const budgets = yield* Budgets
  const baseUrl = yield* BaseUrl

  const balance = route(
    endpoints.balance,
    Effect.fnUntraced(function* ({ as }) {
      const caller = as("consumer")
      const wallet = yield* ledger.wallet(caller.ownerId)
      const { owedMicrocents } = yield* ledger.standing(caller.ownerId)
      const amount = wallet.credits - wallet.debits
      const now = yield* DateTime.now
      return {
        status: 200,
        body: {
          agent_id: caller.ownerId,
          consumer_id: caller.ownerId,
          name: caller.name,
          balance_microcents: Microcents.make(amount),
          balance_cents: toCents(amount),
          balance: formatDollars(amount),
          debt_microcents: Microcents.make(owedMicrocents),
          held_microcents: Microcents.make(wallet.held),
          available_microcents: Microcents.make(wallet.available),
          budgets: (yield* budgets.list(caller.ownerId)).map((budget) => showBudget(budget, now)),
          rate_limit_rpm: caller.rateLimitRpm,
          load_balance_url: `${baseUrl}/api/market/balance/load`
        }
      }
    })
  )

  const load = route(
    endpoints.load,
    Effect.fnUntraced(function* ({ as, payload, request }) {
      const loaded = yield* loads.load({
        consumerId: as("consumer").ownerId,
        amountCents: payload.amount_cents,
        key: yield* idempotencyKey(request)
      })
      if (loaded.mode === "live") {
        return {
          status: 200,
          headers: loaded.repeated ? { "idempotent-replay": "true" } : {},
          body: {
            mode: "live" as const,
            checkout_url: loaded.checkoutUrl,
            url: loaded.checkoutUrl,
            session_id: loaded.sessionId,
            amount_cents: payload.amount_cents,
            amount: formatDollars(fromCents(payload.amount_cents)),
            message: "Pay at checkout_url. Your balance grows as soon as the payment processor has the money."
          }
        }
      }
      return {
        status: 200,
        body: {
          mode: "dry_run" as const,
          previous_balance_cents: toCents(loaded.previousMicrocents),
          added_cents: payload.amount_cents,
          new_balance_cents: toCents(loaded.newMicrocents),
          balance_cents: toCents(loaded.newMicrocents),
          new_balance: formatDollars(loaded.newMicrocents),
          message: "Dry run: the balance has grown and nobody has paid."
        }
      }
    }),
    // Live, the processor is asked: nothing outside may hang on a unit of work, so the load keeps its own key.
    { ownIdempotency: loads.mode === "live" }
  )

  const trialBalance = route(
    endpoints.trialBalance,
    Effect.fnUntraced(function* () {
      const books = yield* ledger.trialBalance
      return {
        status: 200,
        body: {
          accounts: books.accounts.map(({ account, credits, debits }) => ({
            account,
            credits_microcents: Number(credits),
            debits_microcents: Number(debits),
            balance_microcents: Number(credits - debits)
          })),
          total_credits_microcents: Number(books.credits),
          total_debits_microcents: Number(books.debits),
          balanced: books.balanced,
          unbacked_microcents: Number(books.solvency.unbackedMicrocents),
          shortfall_microcents: Number(books.solvency.shortfallMicrocents),
          timestamp: format(yield* DateTime.now)
        }
      }
    })
  )

  const listBudgets = route(
    endpoints.listBudgets,
    Effect.fnUntraced(function* ({ as }) {
      const list = yield* budgets.list(as("consumer").ownerId)
      const now = yield* DateTime.now
      return { status: 200, body: { budgets: list.map((budget) => showBudget(budget, now)), total: list.length } }
    })
  )

  const setBudget = route(
    endpoints.setBudget,
    Effect.fnUntraced(function* ({ as, payload }) {
      const budget = yield* budgets.set(as("consumer").ownerId, {
        toolId: payload.tool_id,
        providerId: payload.provider_id,
        cap: payload.cap_microcents,
        period: payload.period ?? "month"
      })
      return { status: 201, body: { budget: showBudget(budget, yield* DateTime.now) } }
    }),
    { closed: true }
  )

  const removeBudget = route(
    endpoints.removeBudget,
    Effect.fnUntraced(function* ({ as, params }) {
      yield* budgets.remove(as("consumer").ownerId, params.budget_id)
      return { status: 200, body: { removed: true as const, budget_id: params.budget_id } }
    })
  )

  return [balance, load, listBudgets, setBudget, removeBudget, trialBalance]
})

const showBudget = (budget: BudgetStanding, now: DateTime.Utc) => {
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

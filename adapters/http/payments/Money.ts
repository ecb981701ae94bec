/**
 * Balances, loads and the trial balance over HTTP.
 */
import { DateTime, Effect, Option } from "effect"
import type { KeyOwner } from "../../../domain/accounts/Authentication.ts"
import { Budgets, type BudgetStatus, resetsAt } from "../../../domain/ledger/Budgets.ts"
import { Ledger } from "../../../domain/ledger/Ledger.ts"
import { FreezeStore } from "../../../domain/payments/AccountFreezes.ts"
import { Loads } from "../../../domain/payments/Loads.ts"
import { isOpenPart, type Withdrawal, Withdrawals } from "../../../domain/payments/Withdrawals.ts"
import { formatDollars, fromCents, Microcents, toCents, zero } from "../../../domain/shared/Microcents.ts"
import { format } from "../../../domain/shared/Time.ts"
import { BaseUrl } from "../contract/BaseUrl.ts"
import { invalid, notFound, type ProblemsOf } from "../pipeline/Problems.ts"
import { routesWith } from "../pipeline/Route.ts"
import { fieldsOf } from "../pipeline/Views.ts"
import { idempotencyKey } from "../pipeline/WebRequest.ts"
import { MoneyApi } from "./MoneyApi.ts"

const paymentProblems = {
  BudgetNotFound: notFound("GET /api/v1/market/budgets lists yours."),
  DebtOutstanding: (e) => ({
    status: 409,
    code: "DEBT_OUTSTANDING",
    hint: "POST /api/market/balance/load pays it.",
    extra: { owed_cents: e.owedCents }
  }),
  LoadLimitReached: (e) => ({
    status: 422,
    code: "LOAD_LIMIT_REACHED",
    details: [{ path: ["amount_cents"], message: e.message }],
    extra: { limit_cents: e.limitCents, left_cents: e.leftCents, retry_at: e.retryAt }
  }),
  NotWithdrawable: (e) => ({
    status: 422,
    code: "NOT_WITHDRAWABLE",
    details: [{ path: ["amount_cents"], message: e.message }],
    extra: { withdrawable_cents: e.withdrawableCents }
  }),
  TooManyBudgets: invalid()
} satisfies ProblemsOf<Budgets | Loads | Withdrawals>

const { replyRoute, route } = routesWith(paymentProblems)

// A consumer's balance and budgets as the API shows them.

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

const budgetView = (budget: BudgetStatus, now: DateTime.Utc) => {
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

const { endpoints } = MoneyApi

export const moneyRoutes = Effect.gen(function* () {
  const ledger = yield* Ledger
  const loads = yield* Loads
  const withdrawals = yield* Withdrawals
  const budgets = yield* Budgets
  const balanceOf = yield* balanceView

  return [
    route(endpoints.balance, ({ as }) => balanceOf(as("consumer"))),
    replyRoute(
      endpoints.load,
      function* ({ as, payload, request }) {
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
            message: "Dry run: the balance has grown, and no payment was made."
          }
        }
      },
      // In live mode this calls the processor. External calls must not run inside a unit of work, so the load stores its own
      // idempotency key.
      { ownIdempotency: loads.mode === "live" }
    ),
    replyRoute(
      endpoints.withdraw,
      function* ({ as, payload, request }) {
        const { repeated, withdrawal } = yield* withdrawals.request({
          consumerId: as("consumer").ownerId,
          amountCents: payload.amount_cents,
          key: yield* idempotencyKey(request)
        })
        return {
          status: 201,
          headers: repeated ? { "idempotent-replay": "true" } : {},
          body: showWithdrawal(withdrawals.mode, withdrawal)
        }
      },
      // This calls the processor. External calls must not run inside a unit of work, so the withdrawal stores its own
      // idempotency key.
      { ownIdempotency: true }
    ),
    route(endpoints.listWithdrawals, function* ({ as }) {
      const { ownerId } = as("consumer")
      const list = yield* withdrawals.list(ownerId)
      return {
        withdrawable_cents: yield* withdrawals.withdrawableCents(ownerId),
        withdrawals: list.map((one) => showWithdrawal(withdrawals.mode, one)),
        total: list.length
      }
    }),
    route(endpoints.listBudgets, function* ({ as }) {
      const list = yield* budgets.list(as("consumer").ownerId)
      const now = yield* DateTime.now
      return { budgets: list.map((budget) => budgetView(budget, now)), total: list.length }
    }),
    route(endpoints.setBudget, function* ({ as, payload }) {
      const budget = yield* budgets.set(as("consumer").ownerId, {
        toolId: payload.tool_id,
        providerId: payload.provider_id,
        cap: payload.cap_microcents,
        period: payload.period ?? "month"
      })
      return { budget: budgetView(budget, yield* DateTime.now) }
    }),
    route(endpoints.removeBudget, function* ({ as, params }) {
      yield* budgets.remove(as("consumer").ownerId, params.budget_id)
      return { removed: true as const, budget_id: params.budget_id }
    }),
    route(endpoints.trialBalance, function* () {
      const books = yield* ledger.trialBalance
      return {
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
    })
  ]
})

const showWithdrawal = (mode: "dry_run" | "live", { amountCents, createdAt, id, parts }: Withdrawal) => {
  const given = parts.filter(({ state }) => state !== "failed" && state !== "returned")
  const feeCents = given.reduce((sum, part) => sum + part.feeCents, 0)
  return {
    mode,
    withdrawal_id: id,
    status: statusOf(parts),
    amount_cents: amountCents,
    processor_fee_cents: feeCents,
    refund_cents: given.reduce((sum, part) => sum + part.amountCents, 0) - feeCents,
    created_at: format(createdAt),
    refunds: parts.map((part) => ({
      load_id: part.loadId,
      status: part.state,
      amount_cents: part.amountCents,
      processor_fee_cents: part.feeCents,
      refund_cents: part.amountCents - part.feeCents,
      ...fieldsOf(part, "refundId", "failure")
    }))
  }
}

const statusOf = (parts: Withdrawal["parts"]): "pending" | "paid" | "partly_paid" | "failed" => {
  if (parts.some(isOpenPart)) return "pending"
  const paid = parts.filter(({ state }) => state === "paid").length
  return paid === parts.length ? "paid" : paid > 0 ? "partly_paid" : "failed"
}

/**
 * Earnings, the payout account and payouts over HTTP.
 */
import { Effect, Option } from "effect"
import { Claims } from "../../../domain/earnings/Claims.ts"
import type { EarningsTotals, ProviderHoldings } from "../../../domain/earnings/Earnings.ts"
import type { Payout } from "../../../domain/earnings/PayoutStore.ts"
import { PAYOUT_CENTS_MIN, Payouts } from "../../../domain/earnings/Payouts.ts"
import { Ledger } from "../../../domain/ledger/Ledger.ts"
import { feePercent } from "../../../domain/ledger/PlatformFee.ts"
import { AccountFrozen } from "../../../domain/metering/CallRejections.ts"
import { PaymentEvents } from "../../../domain/processor/PaymentEvents.ts"
import { PlatformFees } from "../../../domain/providers/PlatformFees.ts"
import { formatDollars, fromCents, toCents } from "../../../domain/shared/Microcents.ts"
import { format } from "../../../domain/shared/Time.ts"
import { feeView } from "../catalog/ToolViews.ts"
import { BaseUrl, pageUrl } from "../contract/BaseUrl.ts"
import { storedBody } from "../pipeline/Decoding.ts"
import type { ProblemsOf } from "../pipeline/Problems.ts"
import { routesWith } from "../pipeline/Route.ts"
import { amountsOf, fieldsOf, shownAmountsOf } from "../pipeline/Views.ts"
import { header, idempotencyKey } from "../pipeline/WebRequest.ts"
import { PayoutsApi } from "./PayoutsApi.ts"

export const payoutProblems = {
  BelowMinimum: (e) => ({
    status: 422,
    code: "BELOW_MINIMUM",
    hint: "GET /api/market/payouts shows when your earnings become available.",
    extra: { minimum_cents: PAYOUT_CENTS_MIN, payout_balance_cents: e.balanceCents }
  }),
  NotOnboarded: (_, baseUrl) => ({
    status: 422,
    code: "VALIDATION_ERROR",
    hint: "POST /api/market/connect gives the link.",
    extra: { connect_url: `${baseUrl}/api/market/connect` }
  }),
  UntrustedEvent: () => ({ status: 400, code: "BAD_REQUEST" })
} satisfies ProblemsOf<Payouts | PaymentEvents>

const { replyRoute, route } = routesWith(payoutProblems)

const { endpoints } = PayoutsApi

export const payoutsRoutes = Effect.gen(function* () {
  const payouts = yield* Payouts
  const fees = yield* PlatformFees
  const ledger = yield* Ledger
  const claims = yield* Claims
  const baseUrl = yield* BaseUrl

  return [
    ...[endpoints.providerSummary, endpoints.providerSummaryMarket].map((endpoint) =>
      route(endpoint, function* ({ as, payload }) {
        const caller = as("provider")
        const period = payload.period ?? "30d"
        const { byTool, byWeek, total } = yield* payouts.earnings(caller.ownerId, period)
        const { balance } = yield* ledger.provider(caller.ownerId)
        const last = (yield* payouts.history(caller.ownerId)).find((payout) => payout.state === "paid")
        // The account of a key exists.
        const fee = yield* Effect.catchTag(fees.find(caller.ownerId), "ProviderUnknown", Effect.die)
        return {
          provider: { id: caller.ownerId, name: caller.name },
          period,
          platform_fee_rate: feePercent(fee.basisPoints),
          platform_fee_terms: feeView(fee),
          earnings: {
            ...shownAmountsOf("gross_revenue", total.grossMicrocents),
            ...shownAmountsOf("platform_fee", total.feeMicrocents),
            ...shownAmountsOf("net_earnings", total.netMicrocents)
          },
          payout: {
            ...shownAmountsOf("pending_balance", balance),
            last_payout_date: last?.paidAt === undefined ? null : format(last.paidAt),
            last_payout_cents: last?.amountCents ?? null
          },
          by_tool: byTool.map((tool) => ({ tool: tool.toolId, tool_name: tool.toolName, ...earningsView(tool) })),
          by_week: byWeek.map((week) => ({ week_of: week.weekOf, ...earningsView(week) })),
          gross_revenue_cents: toCents(total.grossMicrocents),
          platform_fee_cents: toCents(total.feeMicrocents),
          net_earnings_cents: toCents(total.netMicrocents),
          total_calls: total.calls
        }
      })
    ),
    route(endpoints.connect, function* ({ as, payload }) {
      const providerId = as("provider").ownerId
      const home = pageUrl(baseUrl, "/provider/earnings")
      const { accountId, expiresAt, url } = yield* payouts.connect(providerId, {
        returnUrl: payload.return_url ?? home,
        refreshUrl: payload.refresh_url ?? home
      })
      return {
        provider_id: providerId,
        stripe_account_id: accountId,
        onboarding_url: url,
        url,
        expires_at: format(expiresAt)
      }
    }),
    route(endpoints.connection, function* ({ as }) {
      const providerId = as("provider").ownerId
      const standing = Option.getOrUndefined(yield* payouts.accountStatus(providerId))
      const payee = Option.getOrUndefined(yield* payouts.payee(providerId))
      return {
        provider_id: providerId,
        status: standing?.status ?? ("not_started" as const),
        connected: standing?.status === "complete",
        stripe_account_id: standing?.accountId ?? null,
        charges_enabled: standing?.chargesEnabled ?? false,
        payouts_enabled: standing?.payoutsEnabled ?? false,
        details_submitted: standing?.detailsSubmitted ?? false,
        requirements: {
          currently_due: standing?.currentlyDue ?? [],
          eventually_due: standing?.eventuallyDue ?? [],
          errors: standing?.errors ?? []
        },
        automatic_payouts: payee?.automatic ?? false
      }
    }),
    replyRoute(endpoints.requestPayout, function* ({ as, request }) {
      const providerId = as("provider").ownerId
      // Nothing is payable then, but that is not the reason to give.
      if ((yield* payouts.holdings(providerId)).isFrozen) return yield* new AccountFrozen()
      const asked = yield* payouts.request(providerId, yield* idempotencyKey(request))
      if (asked.mode === "dry_run") {
        const cents = asked.wouldPayoutCents
        return {
          status: 200,
          body: {
            mode: "dry_run" as const,
            would_payout_cents: cents,
            payout_cents: 0 as const,
            payout: formatDollars(0n),
            message: `Dry run: ${formatDollars(fromCents(cents))} would be paid out. Nothing was paid.`
          }
        }
      }
      const { payout, repeated } = asked
      return {
        status: 200,
        headers: repeated ? { "idempotent-replay": "true" } : {},
        body: {
          mode: "live" as const,
          payout_id: payout.id,
          status: payout.state,
          amount_cents: payout.amountCents,
          payout_cents: payout.amountCents,
          payout: formatDollars(fromCents(payout.amountCents)),
          stripe_transfer_id: payout.transferId ?? null,
          message: payoutMessage(payout)
        }
      }
    }),
    route(endpoints.payouts, function* ({ as }) {
      const providerId = as("provider").ownerId
      const holdings = yield* payouts.holdings(providerId)
      const balance = holdings.pendingMicrocents
      const owed = yield* claims.owedBy(providerId)
      const history = (yield* payouts.history(providerId)).map(payoutView)
      const payee = Option.getOrUndefined(yield* payouts.payee(providerId))
      return {
        provider_id: providerId,
        mode: payouts.mode,
        pending_cents: toCents(balance),
        pending_balance_cents: toCents(balance),
        pending_balance: formatDollars(balance),
        ...holdingsView(holdings),
        ...amountsOf("owed", owed),
        stripe_connected: payee?.status?.payoutsEnabled ?? false,
        minimum_payout: "$10.00" as const,
        automatic: payee?.automatic ?? false,
        history,
        payouts: history
      }
    }),
    route(endpoints.setAutomaticPayouts, function* ({ as, payload }) {
      const providerId = as("provider").ownerId
      yield* payouts.setAutomatic(providerId, payload.enabled)
      return { provider_id: providerId, automatic: payload.enabled }
    })
  ]
})

const earningsView = (totals: EarningsTotals) => ({
  calls: totals.calls,
  ...amountsOf("gross", totals.grossMicrocents),
  ...amountsOf("platform_fee", totals.feeMicrocents),
  ...amountsOf("net", totals.netMicrocents)
})

const MATURITIES_SHOWN_MAX = 200

const holdingsView = (holdings: ProviderHoldings) => ({
  ...amountsOf("maturing", holdings.maturingMicrocents),
  ...amountsOf("available", holdings.availableMicrocents),
  ...amountsOf("reserved", holdings.reservedMicrocents),
  ...amountsOf("frozen", holdings.frozenMicrocents),
  reserve_lifted: holdings.reserveLifted,
  maturities: holdings.maturities.slice(0, MATURITIES_SHOWN_MAX).map(({ amount, availableOn, from }) => ({
    available_on: availableOn,
    ...amountsOf("amount", amount),
    from
  }))
})

const payoutView = (payout: Payout) => ({
  ...fieldsOf(payout, "id", "amountCents"),
  status: payout.state,
  ...fieldsOf(payout, "paidAt", "createdAt"),
  stripe_transfer_id: payout.transferId ?? null,
  failure: payout.failure ?? null
})

const payoutMessage = ({ amountCents, failure, state }: Payout): string => {
  const amount = formatDollars(fromCents(amountCents))
  switch (state) {
    case "paid":
      return `${amount} was sent to your account.`
    case "failed":
      return `The payment processor rejected the payout: ${(failure ?? "no reason given").replace(/\.$/u, "")}. ${amount} was returned to your balance.`
    case "reversed":
      return `The payment processor reversed ${amount}.`
    default:
      return `${amount} is reserved; the transfer is in progress. GET /api/market/payouts shows its status.`
  }
}

// The payment processor's webhooks. The signature covers the body as it was sent.

export const webhookRoutes = Effect.gen(function* () {
  const events = yield* PaymentEvents

  return [
    route(
      PayoutsApi.endpoints.stripeWebhook,
      function* ({ request, text }) {
        const outcome = yield* events.receive(text, header(request, "stripe-signature") ?? "")
        return { received: true as const, outcome }
      },
      { body: { ...storedBody, anyText: true, emptyIsObject: false } }
    )
  ]
})

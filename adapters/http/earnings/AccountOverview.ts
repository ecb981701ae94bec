/**
 * The overviews of a consumer and of a provider over HTTP. Their parts are read one after the other: an account that asks
 * for many overviews at once must not occupy every connection to the database.
 */
import { DateTime, Effect, Option } from "effect"
import { qualifiedName } from "../../../domain/accounts/Handle.ts"
import { Catalog } from "../../../domain/catalog/Catalog.ts"
import { Payouts } from "../../../domain/earnings/Payouts.ts"
import type { ProviderId } from "../../../domain/shared/Ids.ts"
import { Microcents, toCents } from "../../../domain/shared/Microcents.ts"
import { PAGE_LIMIT_MAX } from "../../../domain/shared/Page.ts"
import { format } from "../../../domain/shared/Time.ts"
import { Disputes } from "../../../domain/trust/Disputes.ts"
import { Trust } from "../../../domain/trust/Trust.ts"
import { usageViews } from "../metering/Usage.ts"
import { balanceView } from "../payments/Money.ts"
import { MoneyApi } from "../payments/MoneyApi.ts"
import { route } from "../pipeline/Route.ts"
import { PayoutsApi } from "./PayoutsApi.ts"

const page = (limit: number) => ({ limit, offset: 0, after: undefined })

export const accountOverviewRoutes = Effect.gen(function* () {
  const balanceOf = yield* balanceView
  const { freeTiersOf, summaryOf } = yield* usageViews
  const catalog = yield* Catalog
  const payouts = yield* Payouts
  const disputes = yield* Disputes
  const trust = yield* Trust

  const listedTools = (providerId: ProviderId) =>
    catalog.search({ providerId, state: "listed", own: true, page: page(1) })

  /** The one with the next deadline is last. Refunds that the provider began itself need no response. */
  const openDisputes = (providerId: ProviderId) =>
    Effect.map(disputes.list({ role: "provider", ownerId: providerId }, "filed", page(PAGE_LIMIT_MAX)), ({ items }) =>
      items.filter(({ filedBy }) => filedBy === "agent")
    )

  return [
    route(MoneyApi.endpoints.overview, function* ({ as, query }) {
      const caller = as("consumer")
      return {
        balance: yield* balanceOf(caller),
        usage: yield* summaryOf(caller, query.period),
        free_tiers: yield* freeTiersOf(caller.ownerId),
        timestamp: format(yield* DateTime.now)
      }
    }),
    route(PayoutsApi.endpoints.overview, function* ({ as }) {
      const caller = as("provider")
      const { ownerId } = caller
      const tools = yield* listedTools(ownerId)
      const [tool] = tools.items
      const { total: inAll } = yield* payouts.earnings(ownerId, "all")
      const { total: recent } = yield* payouts.earnings(ownerId, "30d")
      const { availableMicrocents } = yield* payouts.holdings(ownerId)
      const payee = Option.getOrUndefined(yield* payouts.payee(ownerId))
      // The account of a key exists.
      const score = yield* Effect.catchTag(trust.score(ownerId), "ProviderUnknown", Effect.die)
      const open = yield* openDisputes(ownerId)
      const next = open.at(-1)
      return {
        provider_id: ownerId,
        listed_tools: tools.total,
        qualified_name: tool === undefined ? null : qualifiedName(tool.provider.handle, tool.tool.toolName),
        calls_in_all: inAll.calls,
        usage: yield* summaryOf(caller, "30d"),
        net_earnings_microcents: Microcents.make(recent.netMicrocents),
        available_cents: toCents(availableMicrocents),
        payout_account_complete: payee?.status?.status === "complete",
        verification_level: score.verified.level,
        trust_score: score.trust.score,
        open_disputes: open.length,
        next_dispute: next === undefined ? null : { dispute_id: next.id, respond_by: format(next.respondBy) },
        timestamp: format(yield* DateTime.now)
      }
    })
  ]
})

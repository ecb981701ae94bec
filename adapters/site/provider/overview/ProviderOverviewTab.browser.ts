/**
 * What the provider has to do, and earnings, calls and payouts at a glance.
 */
import { Fragment } from "preact"
import { useConsole } from "../../console/ConsoleContext.browser.ts"
import { Figures } from "../../console/Figures.browser.ts"
import { pathTo } from "../../console/Place.browser.ts"
import { Loaded, useResource } from "../../console/Resource.browser.ts"
import { TimeChart } from "../../console/TimeChart.browser.ts"
import { h, type View } from "../../console/View.browser.ts"
import type { ProviderOverview } from "../../kit/ApiResponses.browser.ts"
import { count, money, moneyOfCents, percent } from "../../kit/Format.browser.ts"
import { OpenDisputesNotice } from "../disputes/OpenDisputesNotice.browser.ts"
import { GetStarted, isStarted } from "./GetStarted.browser.ts"

export const tab = (): View => {
  const { api } = useConsole()
  const overview = useResource(() => api.get<ProviderOverview>("/api/v1/market/providers/overview"), [])
  return h(Loaded<ProviderOverview>, {
    of: overview,
    show: (found) =>
      h(
        Fragment,
        null,
        isStarted(found) ? undefined : h(GetStarted, found),
        found.calls_in_all === 0
          ? undefined
          : h(
              Fragment,
              null,
              h(OpenDisputesNotice, { open: found.open_disputes, next: found.next_dispute }),
              h("section", { id: "overview" }, figuresOf(found))
            )
      )
  })
}

const figuresOf = ({ usage, ...overview }: ProviderOverview): View =>
  h(
    Fragment,
    null,
    h("h2", null, "Last 30 days"),
    h(Figures, {
      all: [
        ["Net earnings", money(overview.net_earnings_microcents), "after the platform fee"],
        ["Calls", count(usage.total_calls), "including free and failed calls"],
        ["Success rate", usage.total_calls === 0 ? "–" : percent(usage.summary.successful_calls / usage.total_calls)],
        [
          "Available for payout",
          moneyOfCents(overview.available_cents),
          h("a", { href: pathTo("earnings") }, "Payouts")
        ],
        ["Trust score", `${overview.trust_score} of 100`, h("a", { href: pathTo("trust") }, "How to improve it")]
      ]
    }),
    h(TimeChart, {
      title: "Calls by day",
      unit: "Calls",
      points: usage.calls_by_day.map(({ calls: value, date }) => ({ date, value })),
      format: (value) => count(Math.round(value * 10) / 10)
    })
  )

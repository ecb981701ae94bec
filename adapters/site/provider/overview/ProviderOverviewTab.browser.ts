/**
 * What the provider has to do, and earnings, calls and payouts at a glance.
 */
import { Fragment } from "preact"
import { USAGE_PATH } from "../../console/CallColumns.browser.ts"
import { type ConsoleApi } from "../../console/ConsoleApi.browser.ts"
import { type ConsoleAccount, useConsole } from "../../console/ConsoleContext.browser.ts"
import { Figures } from "../../console/Figures.browser.ts"
import { pathTo } from "../../console/Place.browser.ts"
import { Loaded, useResource } from "../../console/Resource.browser.ts"
import { TimeChart } from "../../console/TimeChart.browser.ts"
import { h, type View } from "../../console/View.browser.ts"
import type { Earnings, Payouts, Trust, UsageSummary } from "../../kit/ApiResponses.browser.ts"
import { count, money, moneyOfCents, percent } from "../../kit/Format.browser.ts"
import { OpenDisputesNotice } from "../disputes/OpenDisputesNotice.browser.ts"
import { readEarnings } from "../earnings/EarningsRequest.browser.ts"
import { PAYOUTS_PATH } from "../earnings/PayoutTerms.browser.ts"
import { readTrust } from "../trust/TrustRequest.browser.ts"
import { GetStarted, readSteps, type Steps } from "./GetStarted.browser.ts"

interface Overview {
  readonly earnings: Earnings
  readonly usage: UsageSummary
  readonly payouts: Payouts
  readonly trust: Trust
}

const readOverview = async (api: ConsoleApi, account: ConsoleAccount): Promise<Overview> => {
  const [earnings, usage, payouts, trust] = await Promise.all([
    readEarnings(api, "30d"),
    api.get<UsageSummary>(`${USAGE_PATH}/summary`, { period: "30d" }),
    api.get<Payouts>(PAYOUTS_PATH),
    readTrust(account.id)
  ])
  return { earnings, usage, payouts, trust }
}

export const tab = (): View => {
  const { account, api } = useConsole()
  const steps = useResource(() => readSteps(api, account), [])
  return h(Loaded<Steps>, {
    of: steps,
    show: (done) =>
      h(
        Fragment,
        null,
        done.hasListed && done.hasCalls ? undefined : h(GetStarted, { steps: done }),
        done.hasCalls ? h(AtAGlance, null) : undefined
      )
  })
}

const AtAGlance = (): View => {
  const { account, api } = useConsole()
  const overview = useResource(() => readOverview(api, account), [])
  return h(
    Fragment,
    null,
    h(OpenDisputesNotice, null),
    h("section", { id: "overview" }, h(Loaded<Overview>, { of: overview, show: figuresOf }))
  )
}

const figuresOf = ({ earnings, payouts, trust, usage }: Overview): View =>
  h(
    Fragment,
    null,
    h("h2", null, "Last 30 days"),
    h(Figures, {
      all: [
        ["Net earnings", money(earnings.earnings.net_earnings_microcents), "after the platform fee"],
        ["Calls", count(usage.total_calls), "including free and failed calls"],
        ["Success rate", usage.total_calls === 0 ? "–" : percent(usage.summary.successful_calls / usage.total_calls)],
        [
          "Available for payout",
          moneyOfCents(payouts.available_cents),
          h("a", { href: pathTo("earnings") }, "Payouts")
        ],
        ["Trust score", `${trust.trust_score} of 100`, h("a", { href: pathTo("trust") }, "How to improve it")]
      ]
    }),
    h(TimeChart, {
      title: "Calls by day",
      unit: "Calls",
      points: usage.calls_by_day.map(({ calls: value, date }) => ({ date, value })),
      format: (value) => count(Math.round(value * 10) / 10)
    })
  )

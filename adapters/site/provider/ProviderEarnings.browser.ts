/**
 * Earnings by period, by week and by tool.
 */
import { accountApi } from "../kit/AccountApi.browser.ts"
import { chart } from "../kit/Chart.browser.ts"
import { el, empty, figures } from "../kit/Dom.browser.ts"
import { count, day, money } from "../kit/Format.browser.ts"
import { EARNINGS_PERIODS, type Panel, periodPanel } from "../kit/Panel.browser.ts"
import type { Earnings } from "../kit/ApiResponses.browser.ts"
import { table } from "../kit/Table.browser.ts"

export const readEarnings = (period: string): Promise<Earnings> =>
  accountApi("provider").post<Earnings>("/api/v1/market/billing/provider-summary", { period })

export const earningsPanel = (): Panel =>
  periodPanel("earnings", "Earnings", EARNINGS_PERIODS, async (period) => {
    const summary = await readEarnings(period)
    return summary.total_calls === 0 ? [empty("No calls in this period.")] : contentOf(summary)
  })

const feeText = ({ platform_fee_rate, platform_fee_terms: { upcoming } }: Earnings): string =>
  upcoming === null
    ? `now ${platform_fee_rate}`
    : `now ${platform_fee_rate}, from ${day(upcoming.effective_from)} ${upcoming.platform_fee_bps / 100}%`

const contentOf = (summary: Earnings): ReadonlyArray<Node> => [
  figures([
    ["Net earnings", money(summary.earnings.net_earnings_microcents), `after the platform fee, ${feeText(summary)}`],
    ["Gross revenue", money(summary.earnings.gross_revenue_microcents)],
    ["Platform fee", money(summary.earnings.platform_fee_microcents)],
    ["Calls", count(summary.total_calls), "including free and failed calls"]
  ]),
  chart(
    summary.by_week.map((week) => ({ date: week.week_of, value: week.net_microcents })),
    {
      title: "Net earnings by week",
      unit: "Net",
      pointLabel: "Week of",
      // Ticks of a small scale may be fractions of a microcent.
      format: (value) => money(Math.round(value))
    }
  ),
  el("h3", "Earnings by tool"),
  table(
    "Earnings by tool",
    [
      { name: "Tool", cell: (tool: Earnings["by_tool"][number]) => tool.tool_name },
      { name: "Calls", cell: (tool) => count(tool.calls), isNumber: true },
      { name: "Gross", cell: (tool) => money(tool.gross_microcents), isNumber: true },
      { name: "Fee", cell: (tool) => money(tool.platform_fee_microcents), isNumber: true },
      { name: "Net", cell: (tool) => money(tool.net_microcents), isNumber: true }
    ],
    summary.by_tool
  )
]

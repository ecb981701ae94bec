/**
 * What the provider earned: in a period, by week, by tool.
 */
import type { Earnings } from "../kit/Answers.browser.ts"
import { ask } from "../kit/Api.browser.ts"
import { chart } from "../kit/Chart.browser.ts"
import { choice } from "../kit/Choice.browser.ts"
import { el, empty, figures } from "../kit/Dom.browser.ts"
import { count, money } from "../kit/Figures.browser.ts"
import { type Panel, panel } from "../kit/Panel.browser.ts"
import { keyOf } from "../kit/Session.browser.ts"
import { table } from "../kit/Table.browser.ts"

export const SUMMARY = "/api/v1/market/billing/provider-summary"

const PERIODS = [
  ["7d", "7 days"],
  ["30d", "30 days"],
  ["90d", "90 days"],
  ["all", "All time"]
] as const

export const earnings = (): Panel => {
  const period = choice("earnings-period", "Period", PERIODS, "30d", () => void made.reload())
  const made = panel(
    "earnings",
    "Earnings",
    async () => {
      const body = { period: period.value() }
      const summary = await ask<Earnings>("POST", SUMMARY, { key: keyOf("provider"), body })
      return summary.total_calls === 0 ? [nothing(summary.period)] : contentOf(summary)
    },
    period.element
  )
  return made
}

const nothing = (period: Earnings["period"]): HTMLElement =>
  empty(
    period === "all"
      ? "Nothing was called yet. What your tools earn stands here from their first call on: gross, the platform's fee, and what is yours."
      : "No calls in this time. Choose a longer period to see earlier ones."
  )

const contentOf = (summary: Earnings): ReadonlyArray<Node> => [
  figures([
    [
      "Yours",
      money(summary.earnings.net_earnings_microcents),
      `after the platform's fee of ${summary.platform_fee_rate}`
    ],
    ["Gross", money(summary.earnings.gross_revenue_microcents), "what developers paid"],
    ["Fee", money(summary.earnings.platform_fee_microcents)],
    ["Calls", count(summary.total_calls), "free and failed ones too"]
  ]),
  chart(
    summary.by_week.map((week) => ({ date: week.week_of, value: week.net_microcents })),
    {
      title: "What was yours, by week",
      unit: "Yours",
      each: "Week of",
      // Between the steps of a small scale lies what no account holds.
      format: (value) => money(Math.round(value))
    }
  ),
  el("h3", {}, "By tool"),
  table(
    "Earnings by tool",
    [
      { name: "Tool", cell: (tool: Earnings["by_tool"][number]) => tool.tool_name },
      { name: "Calls", cell: (tool) => count(tool.calls), isNumber: true },
      { name: "Gross", cell: (tool) => money(tool.gross_microcents), isNumber: true },
      { name: "Fee", cell: (tool) => money(tool.platform_fee_microcents), isNumber: true },
      { name: "Yours", cell: (tool) => money(tool.net_microcents), isNumber: true }
    ],
    summary.by_tool
  )
]

/**
 * Earnings by period, by week and by tool.
 */
import { Fragment } from "preact"
import { useConsole } from "../../console/ConsoleContext.browser.ts"
import { type Column, DataTable } from "../../console/DataTable.browser.ts"
import { Loaded, useResource } from "../../console/Resource.browser.ts"
import { PeriodChoice, TimeChart, usePeriod } from "../../console/TimeChart.browser.ts"
import { Empty, Figures } from "../../console/Values.browser.ts"
import { h, type View } from "../../console/View.browser.ts"
import type { Earnings } from "../../kit/ApiResponses.browser.ts"
import { count, day, money } from "../../kit/Format.browser.ts"
import { readEarnings } from "./EarningsRequest.browser.ts"

type ToolEarnings = Earnings["by_tool"][number]

const PERIODS = [
  ["", "30 days"],
  ["7d", "7 days"],
  ["90d", "90 days"],
  ["all", "All time"]
] as const

export const EarningsSummary = (): View => {
  const { api } = useConsole()
  const period = usePeriod(PERIODS)
  const earnings = useResource(() => readEarnings(api, period === "" ? "30d" : period), [period])
  return h(
    "section",
    { id: "earnings" },
    h(
      "div",
      { class: "toolbar" },
      h("h2", null, "Earnings"),
      h(PeriodChoice, { id: "earnings-period", periods: PERIODS })
    ),
    h(Loaded<Earnings>, {
      of: earnings,
      show: (summary) =>
        summary.total_calls === 0
          ? h(
              Empty,
              null,
              "No calls in this period. Your net earnings are the price of each paid call less the platform fee."
            )
          : contentOf(summary)
    })
  )
}

const feeText = ({ platform_fee_rate, platform_fee_terms: { upcoming } }: Earnings): string =>
  upcoming === null
    ? `now ${platform_fee_rate}`
    : `now ${platform_fee_rate}, from ${day(upcoming.effective_from)} ${upcoming.platform_fee_bps / 100}%`

const contentOf = (summary: Earnings): View =>
  h(
    Fragment,
    null,
    h(Figures, {
      all: [
        [
          "Net earnings",
          money(summary.earnings.net_earnings_microcents),
          `after the platform fee, ${feeText(summary)}`
        ],
        ["Gross revenue", money(summary.earnings.gross_revenue_microcents)],
        ["Platform fee", money(summary.earnings.platform_fee_microcents)],
        ["Calls", count(summary.total_calls), "including free and failed calls"]
      ]
    }),
    h(TimeChart, {
      title: "Net earnings by week",
      unit: "Net",
      pointLabel: "Week of",
      points: summary.by_week.map(({ net_microcents: value, week_of: date }) => ({ date, value })),
      // Ticks of a small scale may be fractions of a microcent.
      format: (value) => money(Math.round(value))
    }),
    h("h3", null, "By tool"),
    h(DataTable<ToolEarnings>, {
      caption: "Earnings by tool",
      columns: COLUMNS,
      rows: summary.by_tool,
      keyOf: ({ tool }) => tool
    })
  )

const COLUMNS: ReadonlyArray<Column<ToolEarnings>> = [
  { name: "Tool", cell: (tool) => tool.tool_name },
  { name: "Calls", cell: ({ calls }) => count(calls), isNumber: true },
  { name: "Gross", cell: (tool) => money(tool.gross_microcents), isNumber: true },
  { name: "Fee", cell: (tool) => money(tool.platform_fee_microcents), isNumber: true },
  { name: "Net", cell: (tool) => money(tool.net_microcents), isNumber: true }
]

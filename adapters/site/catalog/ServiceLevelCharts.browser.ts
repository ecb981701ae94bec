/**
 * Calls, success rate and latency of a tool by day.
 */
import type { ComponentChildren } from "preact"
import { type ChartOptions, type Point, TimeChart } from "../console/TimeChart.browser.ts"
import { figures, h, type View } from "../console/View.browser.ts"
import type { ToolSla } from "../kit/ApiResponses.browser.ts"
import { count, milliseconds, percent } from "../kit/Format.browser.ts"

export const ServiceLevelCharts = ({ sla }: { readonly sla: ToolSla }): ComponentChildren => {
  const rates = sla.by_day.map(({ date, uptime }) => ({ date, value: uptime }))
  const worst = Math.min(...rates.flatMap(({ value }) => (value === null ? [] : [value])))
  return [
    figures([
      ["Calls", count(sla.total_calls_30d)],
      [
        "Success rate",
        sla.uptime_30d === null ? "–" : percent(sla.uptime_30d / 100),
        `${count(sla.timeout_calls_30d)} timed out`
      ],
      ["p95 latency", milliseconds(sla.p95_latency_ms), `p50 ${milliseconds(sla.p50_latency_ms)}`]
    ]),
    h(
      "div",
      { class: "charts" },
      titledChart(
        "Calls",
        sla.by_day.map(({ calls, date }) => ({ date, value: calls })),
        { format: count }
      ),
      titledChart("Success rate", rates, {
        kind: "line",
        from: worst < 90 ? 0 : 90,
        to: 100.2,
        format: (value) => (value > 100 ? "" : `${Number(value.toFixed(2))}%`)
      }),
      titledChart(
        "p95 latency",
        sla.by_day.map(({ date, p95_latency_ms: value }) => ({ date, value })),
        { kind: "line", format: milliseconds }
      )
    )
  ]
}

const titledChart = (unit: string, points: ReadonlyArray<Point>, options: Omit<ChartOptions, "title" | "unit">): View =>
  h("div", null, h(TimeChart, { points, title: `${unit} by day`, unit, ...options }))

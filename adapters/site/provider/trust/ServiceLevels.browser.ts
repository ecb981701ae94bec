/**
 * Success rate and latency of the provider's tools by day.
 */
import { Empty } from "../../console/Badge.browser.ts"
import { TimeChart } from "../../console/TimeChart.browser.ts"
import { h, type View } from "../../console/View.browser.ts"
import type { Sla } from "../../kit/ApiResponses.browser.ts"
import { milliseconds } from "../../kit/Format.browser.ts"

export const ServiceLevels = ({ sla }: { readonly sla: Sla }): View =>
  sla.total_calls_30d === 0
    ? h(Empty, null, "No calls measured yet. Only developers' calls through the proxy count.")
    : h(
        "div",
        { class: "grid" },
        h(TimeChart, {
          title: "Success rate by day",
          unit: "Success rate",
          kind: "line",
          to: 100,
          points: sla.by_day.map(({ date, uptime: value }) => ({ date, value })),
          format: (value) => `${Math.round(value * 100) / 100}%`
        }),
        h(TimeChart, {
          title: "p95 latency by day",
          unit: "p95 latency",
          kind: "line",
          points: sla.by_day.map(({ date, p95_latency_ms: value }) => ({ date, value })),
          format: milliseconds
        })
      )

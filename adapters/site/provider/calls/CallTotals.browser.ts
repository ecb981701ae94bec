/**
 * Totals of the calls of the chosen period, and calls by day.
 */
import { Fragment } from "preact"
import { USAGE_PATH } from "../../console/CallColumns.browser.ts"
import { useConsole } from "../../console/ConsoleContext.browser.ts"
import { Figures } from "../../console/Figures.browser.ts"
import { place } from "../../console/Place.browser.ts"
import { Loaded, useResource } from "../../console/Resource.browser.ts"
import { TimeChart } from "../../console/TimeChart.browser.ts"
import { h, type View } from "../../console/View.browser.ts"
import type { UsagePage, UsageSummary } from "../../kit/ApiResponses.browser.ts"
import { bytes, count, milliseconds, percent } from "../../kit/Format.browser.ts"

interface Totals {
  readonly usage: UsageSummary
  readonly averageMs: number | null
}

export const CallTotals = (): View => {
  const { api } = useConsole()
  const period = place.value.query.get("period") ?? "30d"
  const totals = useResource(async () => {
    const [usage, { summary }] = await Promise.all([
      api.get<UsageSummary>(`${USAGE_PATH}/summary`, { period }),
      api.get<UsagePage>(USAGE_PATH, { period, limit: 1 })
    ])
    return { usage, averageMs: summary.avg_latency_ms }
  }, [period])
  return h("section", { id: "call-totals" }, h(Loaded<Totals>, { of: totals, show: totalsOf }))
}

const totalsOf = ({ averageMs, usage }: Totals): View | undefined => {
  const { calls_by_day: days, summary, total_calls: total } = usage
  if (total === 0) return undefined
  return h(
    Fragment,
    null,
    h(Figures, {
      all: [
        ["Calls", count(total)],
        ["Success rate", percent(summary.successful_calls / total)],
        ["Average latency", milliseconds(averageMs)],
        ["Data sent", bytes(summary.data_volume.response_bytes)]
      ]
    }),
    days.length < 2
      ? undefined
      : h(TimeChart, {
          title: "Calls by day",
          unit: "Calls",
          points: days.map(({ calls: value, date }) => ({ date, value })),
          format: (value) => count(Math.round(value * 10) / 10)
        })
  )
}

/**
 * Calls of the provider's tools, newest first, each with its details.
 */
import type { ComponentChildren } from "preact"
import { type Call, CALL_FILTERS, callColumns, receiptColumn, USAGE_PATH } from "../../console/CallColumns.browser.ts"
import { CallDetail } from "../../console/CallDetail.browser.ts"
import { type TabProps, useConsole } from "../../console/ConsoleContext.browser.ts"
import { ListView } from "../../console/ListView.browser.ts"
import { pathTo, place } from "../../console/Place.browser.ts"
import { loaded, useResource } from "../../console/Resource.browser.ts"
import { TimeChart } from "../../console/TimeChart.browser.ts"
import { figures, h, section, type View } from "../../console/View.browser.ts"
import type { UsagePage, UsageSummary } from "../../kit/ApiResponses.browser.ts"
import { bytes, count, milliseconds, percent } from "../../kit/Format.browser.ts"

// Totals of the calls of the chosen period, and calls by day.

interface Totals {
  readonly usage: UsageSummary
  readonly averageMs: number | null
}

const CallTotals = (): View => {
  const { api } = useConsole()
  const period = place.value.query.get("period") ?? "30d"
  const totals = useResource(async () => {
    const [usage, { summary }] = await Promise.all([
      api.get<UsageSummary>(`${USAGE_PATH}/summary`, { period }),
      api.get<UsagePage>(USAGE_PATH, { period, limit: 1 })
    ])
    return { usage, averageMs: summary.avg_latency_ms }
  }, [period])
  return section("call-totals", loaded(totals, totalsOf))
}

const totalsOf = ({ averageMs, usage }: Totals): ComponentChildren => {
  const { calls_by_day: days, summary, total_calls: total } = usage
  if (total === 0) return undefined
  return [
    figures([
      ["Calls", count(total)],
      ["Success rate", percent(summary.successful_calls / total)],
      ["Average latency", milliseconds(averageMs)],
      ["Data sent", bytes(summary.data_volume.response_bytes)]
    ]),
    days.length < 2
      ? undefined
      : h(TimeChart, {
          title: "Calls by day",
          unit: "Calls",
          points: days.map(({ calls: value, date }) => ({ date, value })),
          format: (value) => count(Math.round(value * 10) / 10)
        })
  ]
}

const PAGE_SIZE = 20

const COLUMNS = [...callColumns, receiptColumn]

export const tab = ({ detail }: TabProps): ComponentChildren => {
  const { api } = useConsole()
  if (detail !== undefined) return h(CallDetail, { id: detail })
  return [
    h(CallTotals, null),
    section(
      "calls",
      h(ListView<Call>, {
        id: "calls",
        caption: "Calls",
        filters: CALL_FILTERS,
        load: async (cursor, { period = "30d", status }) => {
          const page = await api.get<UsagePage>(USAGE_PATH, { period, status, limit: PAGE_SIZE, cursor })
          return { rows: page.records, next: page.next_cursor }
        },
        keyOf: ({ receipt_id: id }) => id,
        textOf: (call) => `${call.tool_name} ${call.tool} ${call.receipt_id} ${call.status}`,
        columns: COLUMNS,
        empty: [
          "No calls in the last 30 days. Agents find your tools in the ",
          h("a", { key: "catalog", href: "/catalog" }, "catalog"),
          "; ",
          h("a", { key: "start", href: pathTo() }, "Overview"),
          " shows how to test a call."
        ]
      })
    )
  ]
}

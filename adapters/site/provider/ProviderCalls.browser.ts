/**
 * Calls of the provider's tools: totals, calls by day, and the most recent calls.
 */
import { accountApi } from "../kit/AccountApi.browser.ts"
import { callColumns, USAGE_PATH } from "../kit/Calls.browser.ts"
import { chart } from "../kit/Chart.browser.ts"
import { el, empty, figures } from "../kit/Dom.browser.ts"
import { bytes, count, milliseconds, percent } from "../kit/Format.browser.ts"
import { pagedList } from "../kit/PagedList.browser.ts"
import { type Panel, periodPanel, USAGE_PERIODS } from "../kit/Panel.browser.ts"
import { receiptButton } from "../kit/ReceiptDialog.browser.ts"
import type { UsagePage, UsageSummary } from "../kit/ApiResponses.browser.ts"
import { table } from "../kit/Table.browser.ts"

const PAGE_SIZE = 20

const api = accountApi("provider")

export const callsPanel = (): Panel =>
  periodPanel("calls", "Calls", USAGE_PERIODS, async (period) => {
    const read = (cursor?: string) => api.get<UsagePage>(USAGE_PATH, { period, limit: PAGE_SIZE, cursor })
    const [totals, first] = await Promise.all([api.get<UsageSummary>(`${USAGE_PATH}/summary`, { period }), read()])
    if (totals.total_calls === 0) return [empty("No calls in this period.")]
    const list = await pagedList(
      async (cursor) => (cursor === undefined ? first : read(cursor)),
      (page) => page.records,
      (all) =>
        table(
          "Recent calls",
          [...callColumns((call) => call.tool_name), { name: "", cell: (call) => receiptButton(call.receipt_id) }],
          all
        )
    )
    return [...totalsOf(totals, first), el("h3", "Recent calls"), list]
  })

const totalsOf = (
  { calls_by_day: days, summary, total_calls: total }: UsageSummary,
  first: UsagePage
): ReadonlyArray<Node> => [
  figures([
    ["Calls", count(total)],
    ["Success rate", percent(summary.successful_calls / total)],
    ["Average latency", milliseconds(first.summary.avg_latency_ms)],
    ["Data sent", bytes(summary.data_volume.response_bytes)]
  ]),
  ...(days.length < 2
    ? []
    : [
        chart(
          days.map((day) => ({ date: day.date, value: day.calls })),
          { title: "Calls by day", unit: "Calls", format: (value) => count(Math.round(value * 10) / 10) }
        )
      ])
]

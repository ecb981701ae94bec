/**
 * The calls of the provider's tools: how many a day, and the newest one by one.
 */
import type { UsagePage, UsageSummary } from "../kit/Answers.browser.ts"
import { ask } from "../kit/Api.browser.ts"
import { chart } from "../kit/Chart.browser.ts"
import { choice } from "../kit/Choice.browser.ts"
import { badge, button, el, empty, figures } from "../kit/Dom.browser.ts"
import { bytes, count, milliseconds, money, moment, percent } from "../kit/Figures.browser.ts"
import { type Panel, panel } from "../kit/Panel.browser.ts"
import { pages } from "../kit/Paging.browser.ts"
import { openReceipt } from "../kit/ReceiptDialog.browser.ts"
import { keyOf } from "../kit/Session.browser.ts"
import { table } from "../kit/Table.browser.ts"

type Call = UsagePage["records"][number]

const PERIODS = [
  ["24h", "24 hours"],
  ["7d", "7 days"],
  ["30d", "30 days"],
  ["90d", "90 days"]
] as const

const SHOWN_AT_ONCE = 20

export const calls = (): Panel => {
  const period = choice("calls-period", "Period", PERIODS, "30d", () => void made.reload())
  const made = panel(
    "calls",
    "Calls of your tools",
    async () => {
      const chosen = period.value()
      const key = keyOf("provider")
      const read = async (cursor: string | undefined) => {
        const more = cursor === undefined ? {} : { cursor }
        const query = new URLSearchParams({ period: chosen, limit: String(SHOWN_AT_ONCE), ...more })
        return ask<UsagePage>("GET", `/api/v1/market/usage?${query}`, { key })
      }
      const [sums, newest] = await Promise.all([
        ask<UsageSummary>("GET", `/api/v1/market/usage/summary?period=${chosen}`, { key }),
        read(undefined)
      ])
      if (sums.total_calls === 0) return [empty("No calls in this time. Each one stands here, with its receipt.")]
      const list = await pages(
        async (cursor) => {
          const page = cursor === undefined ? newest : await read(cursor)
          return { items: page.records, next: page.next_cursor }
        },
        (all) => [callTable(all)]
      )
      return [...sumsOf(sums, newest), el("h3", {}, "The newest calls"), list]
    },
    period.element
  )
  return made
}

const sumsOf = (
  { calls_by_day: days, summary, total_calls: total }: UsageSummary,
  newest: UsagePage
): ReadonlyArray<Node> => [
  figures([
    ["Calls", count(total)],
    ["Succeeded", percent(summary.successful_calls / total)],
    ["On average", milliseconds(newest.summary.avg_latency_ms)],
    ["Data out", bytes(summary.data_volume.response_bytes)]
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

const OUTCOMES = {
  success: ["Success", "good"],
  error: ["Error", "bad"],
  timeout: ["Too slow", "bad"],
  rate_limited: ["You refused", "bad"]
} as const

const callTable = (all: ReadonlyArray<Call>): HTMLElement =>
  table(
    "The newest calls",
    [
      { name: "When", cell: (call: Call) => moment(call.created_at) },
      { name: "Tool", cell: (call) => call.tool_name },
      { name: "Outcome", cell: ({ status }) => badge(OUTCOMES[status][0], OUTCOMES[status][1]) },
      { name: "Took", cell: (call) => milliseconds(call.duration_ms), isNumber: true },
      {
        name: "Paid",
        cell: (call) => (call.cost_microcents === 0 ? "–" : money(call.cost_microcents)),
        isNumber: true
      },
      { name: "", cell: (call) => button("Receipt", () => openReceipt(call.receipt_id), "plain tiny") }
    ],
    all
  )

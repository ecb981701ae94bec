/**
 * What was spent, by day and by tool.
 */
import type { UsageSummary } from "../kit/Answers.browser.ts"
import { ask } from "../kit/Api.browser.ts"
import { chart } from "../kit/Chart.browser.ts"
import { choice } from "../kit/Choice.browser.ts"
import { el, empty, figures } from "../kit/Dom.browser.ts"
import { bytes, count, money, percent, plural } from "../kit/Figures.browser.ts"
import { type Panel, panel } from "../kit/Panel.browser.ts"
import { keyOf } from "../kit/Session.browser.ts"
import { table } from "../kit/Table.browser.ts"

const PERIODS = [
  ["24h", "24 hours"],
  ["7d", "7 days"],
  ["30d", "30 days"],
  ["90d", "90 days"]
] as const

export const spending = (): Panel => {
  const period = choice("spending-period", "Period", PERIODS, "30d", () => void made.reload())
  const made = panel(
    "spending",
    "Spending",
    async () => {
      const usage = await ask<UsageSummary>("GET", `/api/v1/market/usage/summary?period=${period.value()}`, {
        key: keyOf("consumer")
      })
      if (usage.total_calls === 0) {
        return [
          empty(
            el("p", {}, "No calls in this time. "),
            el("p", {}, el("a", { href: "/catalog" }, "Find a tool in the catalogue"), ": its page builds the call.")
          )
        ]
      }
      const { summary } = usage
      return [
        figures([
          ["Spent", money(summary.total_spend_microcents)],
          ["Calls", count(summary.total_calls)],
          ["Failed", percent(summary.error_rate), plural(summary.total_calls - summary.successful_calls, "call")],
          [
            "Data",
            bytes(summary.data_volume.request_bytes + summary.data_volume.response_bytes),
            plural(summary.data_volume.tokens_input + summary.data_volume.tokens_output, "token")
          ]
        ]),
        chart(
          usage.calls_by_day.map(({ date, spend_microcents: value }) => ({ date, value })),
          // Between the steps of a small scale lies what nobody can spend.
          { title: "Spent by day", unit: "Spent", format: (value) => money(Math.round(value)) }
        ),
        table(
          "By tool",
          [
            { name: "Tool", cell: (tool) => el("a", { href: `/catalog/${tool.tool_id}` }, tool.tool_name) },
            { name: "Calls", cell: ({ calls }) => count(calls), isNumber: true },
            { name: "Spent", cell: (tool) => money(tool.spend_microcents), isNumber: true }
          ],
          usage.top_tools
        )
      ]
    },
    period.element
  )
  return made
}

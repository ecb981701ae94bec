/**
 * Spending by day and by tool.
 */
import { accountApi } from "../kit/AccountApi.browser.ts"
import { USAGE_PATH } from "../kit/Calls.browser.ts"
import { chart } from "../kit/Chart.browser.ts"
import { el, empty, figures } from "../kit/Dom.browser.ts"
import { bytes, count, money, percent, plural } from "../kit/Format.browser.ts"
import { type Panel, periodPanel, USAGE_PERIODS } from "../kit/Panel.browser.ts"
import type { UsageSummary } from "../kit/ApiResponses.browser.ts"
import { table } from "../kit/Table.browser.ts"

export const spendingPanel = (): Panel =>
  periodPanel("spending", "Spending", USAGE_PERIODS, async (period) => {
    const usage = await accountApi("consumer").get<UsageSummary>(`${USAGE_PATH}/summary`, { period })
    if (usage.total_calls === 0) {
      return [empty("No calls in this period. ", el("a", { href: "/catalog" }, "Browse the catalog"), ".")]
    }
    const { summary } = usage
    const { request_bytes, response_bytes, tokens_input, tokens_output } = summary.data_volume
    return [
      figures([
        ["Spent", money(summary.total_spend_microcents)],
        ["Calls", count(summary.total_calls)],
        ["Error rate", percent(summary.error_rate), plural(summary.total_calls - summary.successful_calls, "call")],
        ["Data", bytes(request_bytes + response_bytes), plural(tokens_input + tokens_output, "token")]
      ]),
      chart(
        usage.calls_by_day.map(({ date, spend_microcents: value }) => ({ date, value })),
        // Ticks of a small scale may be fractions of a microcent.
        { title: "Spending by day", unit: "Spent", format: (value) => money(Math.round(value)) }
      ),
      table(
        "Spending by tool",
        [
          { name: "Tool", cell: (tool) => el("a", { href: `/catalog/${tool.tool_id}` }, tool.tool_name) },
          { name: "Calls", cell: ({ calls }) => count(calls), isNumber: true },
          { name: "Spent", cell: (tool) => money(tool.spend_microcents), isNumber: true }
        ],
        usage.top_tools
      )
    ]
  })

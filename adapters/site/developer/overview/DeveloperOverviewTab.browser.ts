/**
 * Balance, spending and free calls at a glance.
 */
import type { ComponentChildren } from "preact"
import { PERIODS } from "../../console/CallColumns.browser.ts"
import { useConsole } from "../../console/ConsoleContext.browser.ts"
import { DataTable } from "../../console/DataTable.browser.ts"
import { pathTo } from "../../console/Place.browser.ts"
import { loaded, useResource } from "../../console/Resource.browser.ts"
import { PeriodChoice, TimeChart, usePeriod } from "../../console/TimeChart.browser.ts"
import { Empty, figures, h, Notice, section, TimeText, type View } from "../../console/View.browser.ts"
import type { Balance, ConsumerOverview, FreeTiers, UsageSummary } from "../../kit/ApiResponses.browser.ts"
import { bytes, count, money, percent, plural } from "../../kit/Format.browser.ts"

// Free calls used and remaining this month.

const FreeCalls = ({ free_tiers: all, resets_at: resets }: FreeTiers): View =>
  section(
    "free-calls",
    h("h2", null, "Free calls"),
    all.length === 0
      ? h(Empty, null, "No free calls used this month. Free calls are used before paid ones.")
      : [
          h(DataTable<FreeTiers["free_tiers"][number]>, {
            caption: "Free calls this month",
            columns: [
              { name: "Tool", cell: (tier) => h("a", { href: `/catalog/${tier.tool_id}` }, tier.tool_name) },
              { name: "Provider", cell: ({ provider }) => provider },
              { name: "Used", cell: ({ used }) => count(used), isNumber: true },
              { name: "Remaining", cell: ({ left }) => count(left), isNumber: true }
            ],
            rows: all,
            keyOf: ({ tool_id }) => tool_id
          }),
          h("p", { class: "muted small" }, "Resets ", h(TimeText, { at: resets }), ".")
        ]
  )

/** While calls are in flight, all of it changes. */
const LIVE_MS = 3_000

export const tab = (): View => {
  const { api } = useConsole()
  const period = usePeriod(PERIODS)
  const overview = useResource(
    () => api.get<ConsumerOverview>("/api/v1/market/consumers/overview", { period: period === "" ? "30d" : period }),
    [period],
    { refreshMs: ({ balance }) => (balance.held_microcents > 0 ? LIVE_MS : undefined) }
  )
  return loaded(overview, ({ balance, free_tiers: tiers, usage }) => [
    section("wallet", balanceOf(balance)),
    section(
      "spending",
      h(
        "div",
        { class: "toolbar" },
        h("h2", null, "Spending"),
        h(PeriodChoice, { id: "spending-period", periods: PERIODS })
      ),
      spendingOf(usage)
    ),
    h(FreeCalls, tiers)
  ])
}

const balanceOf = (balance: Balance): ComponentChildren => {
  const debt = balance.debt_microcents
  const isEmpty = balance.available_microcents === 0 && balance.held_microcents === 0
  return [
    debt > 0
      ? h(
          Notice,
          { style: "bad" },
          `You owe ${money(debt)} after a reversed payment. The next funds you add pay it first.`
        )
      : undefined,
    isEmpty
      ? h(
          Notice,
          null,
          "Your balance is empty. ",
          h("a", { href: pathTo("funds") }, "Add funds"),
          " to call paid tools; free calls work without a balance."
        )
      : undefined,
    figures([
      ["Available balance", money(balance.available_microcents)],
      ["Reserved", money(balance.held_microcents), "for calls in progress"],
      ["Total balance", money(balance.balance_microcents)],
      ["Rate limit", count(balance.rate_limit_rpm), "requests per minute"]
    ])
  ]
}

/** Only some providers report tokens. */
const tokensOf = (tokens: number): string => (tokens === 0 ? "requests and responses" : plural(tokens, "token"))

const spendingOf = (usage: UsageSummary): ComponentChildren => {
  if (usage.total_calls === 0) {
    return h(
      Empty,
      null,
      "No calls in this period. ",
      h("a", { href: "/catalog" }, "Browse the catalog"),
      " or ",
      h("a", { href: pathTo("connect") }, "connect a client"),
      "."
    )
  }
  const { summary } = usage
  const { request_bytes, response_bytes, tokens_input, tokens_output } = summary.data_volume
  return [
    figures([
      ["Spent", money(summary.total_spend_microcents)],
      ["Calls", count(summary.total_calls)],
      ["Error rate", percent(summary.error_rate), plural(summary.total_calls - summary.successful_calls, "call")],
      ["Data transferred", bytes(request_bytes + response_bytes), tokensOf(tokens_input + tokens_output)]
    ]),
    h(TimeChart, {
      title: "Spending by day",
      unit: "Spent",
      points: usage.calls_by_day.map(({ date, spend_microcents: value }) => ({ date, value })),
      format: money
    }),
    h(DataTable<UsageSummary["top_tools"][number]>, {
      caption: "Spending by tool",
      columns: [
        { name: "Tool", cell: (tool) => h("a", { href: `/catalog/${tool.tool_id}` }, tool.tool_name) },
        { name: "Calls", cell: ({ calls }) => count(calls), isNumber: true },
        { name: "Spent", cell: (tool) => money(tool.spend_microcents), isNumber: true }
      ],
      rows: usage.top_tools,
      keyOf: ({ tool_id }) => tool_id
    })
  ]
}

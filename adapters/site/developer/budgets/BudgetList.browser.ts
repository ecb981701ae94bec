/**
 * Budgets: limits that a developer sets on its own spending.
 */
import { useState } from "preact/hooks"
import { ActionButton } from "../../console/ActionButton.browser.ts"
import { type ConsoleContext, useConsole } from "../../console/ConsoleContext.browser.ts"
import type { Column } from "../../console/DataTable.browser.ts"
import { InputForm } from "../../console/InputForm.browser.ts"
import { ListView } from "../../console/ListView.browser.ts"
import { TimeText } from "../../console/TimeText.browser.ts"
import type { Budgets } from "../../kit/ApiResponses.browser.ts"
import { money } from "../../kit/Format.browser.ts"
import { LIMIT_PERIODS, limitIn, periodLabel } from "./LimitPeriods.browser.ts"
import { h, type View } from "../../console/View.browser.ts"

type Budget = Budgets["budgets"][number]

const PATH = "/api/v1/market/budgets"

export const BudgetList = (): View => {
  const { api } = useConsole()
  const [version, setVersion] = useState(0)
  const changed = () => setVersion((before) => before + 1)
  return h(
    "section",
    { id: "budgets" },
    h(ListView<Budget>, {
      id: "budgets",
      caption: "Budgets",
      version,
      load: async () => ({ rows: (await api.get<Budgets>(PATH)).budgets, next: null }),
      keyOf: ({ budget_id }) => budget_id,
      columns: columnsOf(api, changed),
      empty: "No budgets. Your balance is the only limit on what your agents spend."
    }),
    h(
      "details",
      null,
      h("summary", null, "Create budget"),
      h(InputForm, {
        id: "budget",
        submit: "Create budget",
        fields: [
          { name: "cap_microcents", label: "Limit in dollars", type: "number", value: "5.00" },
          { name: "period", label: "Period", type: "select", choices: LIMIT_PERIODS, value: "day" },
          {
            name: "tool_id",
            label: "Tool ID",
            optional: true,
            hint: "The last part of the address of the tool's page."
          },
          {
            name: "provider_id",
            label: "Provider ID",
            optional: true,
            hint: "Shown on the provider's page in the catalog."
          }
        ],
        send: async ({ cap_microcents: limit, period, provider_id: provider, tool_id: tool }, idempotencyKey) => {
          const body = {
            cap_microcents: limitIn(limit),
            period,
            ...(tool === "" ? {} : { tool_id: tool }),
            ...(provider === "" ? {} : { provider_id: provider })
          }
          await api.post(PATH, body, idempotencyKey)
          changed()
          return `Budget created: $${limit} ${periodLabel(period)}.`
        }
      })
    )
  )
}

const columnsOf = (api: ConsoleContext["api"], changed: () => void): ReadonlyArray<Column<Budget>> => [
  { name: "Scope", cell: scopeOf, csv: (one) => one.tool_id ?? one.provider_id ?? "All calls" },
  {
    name: "Limit",
    cell: (one) => `${money(one.cap_microcents)} ${periodLabel(one.period)}`,
    isNumber: true,
    sortBy: (one) => one.cap_microcents,
    csv: (one) => `${money(one.cap_microcents)} ${periodLabel(one.period)}`
  },
  {
    name: "Spent",
    cell: (one) => money(one.spent_microcents),
    isNumber: true,
    sortBy: (one) => one.spent_microcents,
    csv: (one) => money(one.spent_microcents)
  },
  {
    name: "Remaining",
    cell: (one) => money(one.left_microcents),
    isNumber: true,
    sortBy: (one) => one.left_microcents,
    csv: (one) => money(one.left_microcents)
  },
  { name: "Resets", cell: (one) => (one.resets_at === null ? "Never" : h(TimeText, { at: one.resets_at })) },
  {
    name: "",
    cell: (one) =>
      h(ActionButton, {
        label: "Delete",
        style: "plain tiny",
        confirm: {
          title: "Delete this budget?",
          text: "Your agents can exceed it immediately.",
          action: "Delete budget",
          isDangerous: true
        },
        run: async (idempotencyKey) => {
          await api.delete(`${PATH}/${one.budget_id}`, idempotencyKey)
          changed()
          return "Budget deleted."
        }
      })
  }
]

function scopeOf(one: Budget): View | string {
  if (one.tool_id !== null) return h("a", { href: `/catalog/${one.tool_id}` }, "One tool")
  return one.provider_id === null
    ? "All calls"
    : h("a", { href: `/catalog?provider_id=${one.provider_id}` }, "One provider")
}

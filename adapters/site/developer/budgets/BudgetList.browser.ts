/**
 * Budgets: limits that a developer sets on its own spending.
 */
import type { Column } from "../../console/DataTable.browser.ts"
import { ProviderLink, toolIdOf, ToolLink } from "../../console/PublicNames.browser.ts"
import { TimeText } from "../../console/Values.browser.ts"
import { h, type View } from "../../console/View.browser.ts"
import type { Budgets } from "../../kit/ApiResponses.browser.ts"
import { money } from "../../kit/Format.browser.ts"
import { limitColumn, LimitList, spentColumn } from "./LimitList.browser.ts"
import { LIMIT_PERIODS, limitIn, periodLabel } from "./LimitPeriods.browser.ts"

type Budget = Budgets["budgets"][number]

export const BudgetList = (): View =>
  h(LimitList<Budget, Budgets>, {
    id: "budgets",
    title: "Budgets",
    path: "/api/v1/market/budgets",
    purpose: "A call that could exceed a budget is rejected before it reaches the provider.",
    rowsOf: ({ budgets }) => budgets,
    idOf: ({ budget_id: id }) => id,
    columns: COLUMNS,
    empty: "No budgets. Your balance is the only limit on what your agents spend.",
    ending: {
      label: "Delete",
      isPossible: () => true,
      confirm: {
        title: "Delete this budget?",
        text: "Your agents can exceed it immediately.",
        action: "Delete budget",
        isDangerous: true
      },
      message: "Budget deleted."
    },
    form: {
      id: "budget",
      submit: "Create budget",
      fields: [
        { name: "cap_microcents", label: "Limit in dollars", type: "number", value: "5.00" },
        { name: "period", label: "Period", type: "select", choices: LIMIT_PERIODS, value: "day" },
        {
          name: "tool_id",
          label: "Tool",
          optional: true,
          placeholder: "demo/echo",
          hint: "Name or ID. Empty: all tools."
        },
        {
          name: "provider_id",
          label: "Provider ID",
          optional: true,
          hint: "Shown on the provider's page in the catalog. Empty: all providers."
        }
      ],
      bodyOf: async ({ cap_microcents: limit, period, provider_id: provider, tool_id: tool = "" }) => ({
        cap_microcents: limitIn(limit),
        period,
        ...(tool === "" ? {} : { tool_id: await toolIdOf(tool) }),
        ...(provider === "" ? {} : { provider_id: provider })
      }),
      messageOf: ({ cap_microcents: limit, period }) => `Budget created: $${limit} ${periodLabel(period)}.`
    }
  })

const scopeOf = (one: Budget): View | string => {
  if (one.tool_id !== null) return h(ToolLink, { id: one.tool_id })
  return one.provider_id === null ? "All calls" : h(ProviderLink, { id: one.provider_id })
}

const COLUMNS: ReadonlyArray<Column<Budget>> = [
  { name: "Scope", cell: scopeOf, csv: (one) => one.tool_id ?? one.provider_id ?? "All calls" },
  limitColumn,
  spentColumn,
  {
    name: "Remaining",
    cell: (one) => money(one.left_microcents),
    isNumber: true,
    sortBy: (one) => one.left_microcents,
    csv: (one) => money(one.left_microcents)
  },
  { name: "Resets", cell: (one) => (one.resets_at === null ? "Never" : h(TimeText, { at: one.resets_at })) }
]

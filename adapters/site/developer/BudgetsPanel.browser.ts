/**
 * Budgets: limits that a developer sets on its own spending.
 */
import { accountApi } from "../kit/AccountApi.browser.ts"
import { actionButton, statusArea } from "../kit/Action.browser.ts"
import { invalid } from "../kit/ApiRequest.browser.ts"
import { el, fill, notice } from "../kit/Dom.browser.ts"
import { dateTime, money, parseDollars } from "../kit/Format.browser.ts"
import { form } from "../kit/Form.browser.ts"
import { type Panel, panel } from "../kit/Panel.browser.ts"
import type { Budgets } from "../kit/ApiResponses.browser.ts"
import { table } from "../kit/Table.browser.ts"

type Budget = Budgets["budgets"][number]

const PATH = "/api/v1/market/budgets"

const api = accountApi("consumer")

export const LIMIT_PERIODS = [
  ["day", "per day"],
  ["month", "per month"],
  ["total", "in total"]
] as const

export const periodLabel = (period = ""): string => LIMIT_PERIODS.find(([value]) => value === period)?.[1] ?? period

/** The limit that was entered into the field `cap_microcents`. */
export const limitIn = (dollars: string | undefined): number => {
  const microcents = parseDollars(dollars)
  if (microcents === undefined) throw invalid({ cap_microcents: "Enter an amount in dollars, such as 5.00." })
  return microcents
}

export const budgetsPanel = (): Panel => {
  const status = statusArea()
  return panel("budgets", "Budgets", async (reload) => {
    const { budgets } = await api.get<Budgets>(PATH)
    return [
      status,
      budgetTable(budgets, status, reload),
      el("details", el("summary", "Create budget"), createForm(status, reload))
    ]
  })
}

const budgetTable = (all: ReadonlyArray<Budget>, status: HTMLElement, reload: () => Promise<void>): HTMLElement =>
  table(
    "Budgets",
    [
      { name: "Scope", cell: scopeOf },
      { name: "Limit", cell: (one) => `${money(one.cap_microcents)} ${periodLabel(one.period)}`, isNumber: true },
      { name: "Spent", cell: (one) => money(one.spent_microcents), isNumber: true },
      { name: "Remaining", cell: (one) => money(one.left_microcents), isNumber: true },
      { name: "Resets", cell: (one) => (one.resets_at === null ? "Never" : dateTime(one.resets_at)) },
      {
        name: "",
        cell: (one) =>
          actionButton({
            label: "Delete",
            style: "plain tiny",
            status,
            confirm: {
              title: "Delete this budget?",
              text: ["Your agents can exceed it immediately."],
              action: "Delete budget",
              isDangerous: true
            },
            run: async (idempotencyKey) => {
              await api.delete(`${PATH}/${one.budget_id}`, idempotencyKey)
              await reload()
              return "Budget deleted."
            }
          })
      }
    ],
    all,
    "No budgets. Your balance is the only limit on what your agents spend."
  )

const scopeOf = (one: Budget): Node | string => {
  if (one.tool_id !== null) return el("a", { href: `/catalog/${one.tool_id}` }, "One tool")
  return one.provider_id === null
    ? "All calls"
    : el("a", { href: `/catalog?provider_id=${one.provider_id}` }, "One provider")
}

const createForm = (status: HTMLElement, reload: () => Promise<void>): HTMLElement =>
  form({
    id: "budget",
    submit: "Create budget",
    fields: [
      { name: "cap_microcents", label: "Limit in dollars", type: "number", value: "5.00" },
      { name: "period", label: "Period", type: "select", choices: LIMIT_PERIODS, value: "day" },
      { name: "tool_id", label: "Tool ID", optional: true, hint: "Shown on the tool's page." },
      { name: "provider_id", label: "Provider ID", optional: true }
    ],
    send: async ({ cap_microcents: limit, period, provider_id: provider, tool_id: tool }, idempotencyKey) => {
      const body = {
        cap_microcents: limitIn(limit),
        period,
        ...(tool === "" ? {} : { tool_id: tool }),
        ...(provider === "" ? {} : { provider_id: provider })
      }
      await api.post(PATH, body, idempotencyKey)
      await reload()
      fill(status, notice("good", `Budget created: $${limit} ${periodLabel(period)}.`))
    }
  })

/**
 * Caps that a developer puts on its own spending.
 */
import type { Budgets } from "../kit/Answers.browser.ts"
import { ask, Refused } from "../kit/Api.browser.ts"
import { confirmed } from "../kit/Confirm.browser.ts"
import { deed, saying } from "../kit/Action.browser.ts"
import { el, empty, fill, notice } from "../kit/Dom.browser.ts"
import { microcentsOf, moment, money } from "../kit/Figures.browser.ts"
import { form } from "../kit/Form.browser.ts"
import { type Panel, panel } from "../kit/Panel.browser.ts"
import { keyOf } from "../kit/Session.browser.ts"
import { table } from "../kit/Table.browser.ts"

type Budget = Budgets["budgets"][number]

const PATH = "/api/v1/market/budgets"

export const CAP_PERIODS = [
  ["day", "a day"],
  ["month", "a month"],
  ["total", "in all"]
] as const

/** Dollars that somebody typed into the field of that name. */
export const amountIn = (name: string, dollars: string | undefined): number => {
  const microcents = microcentsOf(dollars ?? "")
  if (microcents !== undefined) return microcents
  throw new Refused(422, { details: [{ path: [name], message: "Write dollars, such as 5.00." }] })
}

export const budgets = (): Panel => {
  const said = saying()
  return panel("budgets", "Budgets", async (reload) => {
    const { budgets: rows } = await ask<Budgets>("GET", PATH, { key: keyOf("consumer") })
    return [
      said,
      rows.length === 0
        ? empty("No budgets: only the balance limits what your agents spend. A budget stops them earlier.")
        : budgetTable(rows, said, reload),
      el("details", {}, el("summary", {}, "Set a budget"), setting(said, reload))
    ]
  })
}

const budgetTable = (rows: ReadonlyArray<Budget>, said: HTMLElement, reload: () => Promise<void>): HTMLElement =>
  table(
    "Budgets",
    [
      { name: "For", cell: scopeOf },
      { name: "Cap", cell: (one) => `${money(one.cap_microcents)} ${nameOf(one.period)}`, isNumber: true },
      { name: "Spent", cell: (one) => money(one.spent_microcents), isNumber: true },
      { name: "Left", cell: (one) => money(one.left_microcents), isNumber: true },
      { name: "Again full", cell: (one) => (one.resets_at === null ? "never" : moment(one.resets_at)) },
      {
        name: "",
        cell: (one) => removing(one, said, reload)
      }
    ],
    rows
  )

const removing = (one: Budget, said: HTMLElement, reload: () => Promise<void>): HTMLElement =>
  deed(
    "Remove",
    said,
    async (idempotencyKey) => {
      const agreed = await confirmed({
        title: "Remove this budget?",
        text: [el("p", {}, "Your agents may then spend past it at once.")],
        yes: "Remove it",
        isDangerous: true
      })
      if (!agreed) return undefined
      await ask("DELETE", `${PATH}/${one.budget_id}`, { key: keyOf("consumer"), idempotencyKey })
      await reload()
      return "Removed."
    },
    "plain tiny"
  )

const nameOf = (period: string): string => CAP_PERIODS.find(([value]) => value === period)?.[1] ?? period

const scopeOf = (one: Budget): Node | string =>
  one.tool_id === null
    ? one.provider_id === null
      ? "everything"
      : el("a", { href: `/catalog?provider_id=${one.provider_id}` }, "one provider")
    : el("a", { href: `/catalog/${one.tool_id}` }, "one tool")

const setting = (said: HTMLElement, reload: () => Promise<void>): HTMLElement =>
  form({
    id: "budget",
    submit: "Set it",
    fields: [
      { name: "cap_microcents", label: "Cap in dollars", type: "number", value: "5.00" },
      { name: "period", label: "How often", type: "select", choices: CAP_PERIODS, value: "day" },
      { name: "tool_id", label: "Only for the tool with this id", optional: true, hint: "A tool's page shows its id." },
      { name: "provider_id", label: "Only for the provider with this id", optional: true }
    ],
    send: async ({ cap_microcents: cap, period, provider_id: provider, tool_id: tool }, idempotencyKey) => {
      await ask("POST", PATH, {
        key: keyOf("consumer"),
        idempotencyKey,
        body: {
          cap_microcents: amountIn("cap_microcents", cap),
          period,
          ...(tool === "" ? {} : { tool_id: tool }),
          ...(provider === "" ? {} : { provider_id: provider })
        }
      })
      await reload()
      fill(said, notice("good", `Set: at most $${cap} ${nameOf(period ?? "")}.`))
      return undefined
    }
  })

/**
 * Which providers may bill a developer for calls that they report themselves.
 */
import type { Grants } from "../kit/Answers.browser.ts"
import { ask } from "../kit/Api.browser.ts"
import { amountIn, CAP_PERIODS } from "./BudgetsPanel.browser.ts"
import { confirmed } from "../kit/Confirm.browser.ts"
import { deed, saying } from "../kit/Action.browser.ts"
import { badge, el, empty } from "../kit/Dom.browser.ts"
import { moment, money, plural } from "../kit/Figures.browser.ts"
import { form } from "../kit/Form.browser.ts"
import { type Panel, panel } from "../kit/Panel.browser.ts"
import { keyOf } from "../kit/Session.browser.ts"
import { table } from "../kit/Table.browser.ts"

type Grant = Grants["grants"][number]

const PATH = "/api/v1/market/grants"

const STATES = { active: ["Active", "good"], revoked: ["Taken back", ""], expired: ["Over", ""] } as const

export const grants = (): Panel => {
  const said = saying()
  return panel("grants", "Grants", async (reload) => {
    const { grants: rows } = await ask<Grants>("GET", PATH, { key: keyOf("consumer") })
    return [
      said,
      rows.length === 0
        ? empty("No grants: nobody bills you but the proxy. A provider that meters its own calls needs one from you.")
        : grantTable(rows, said, reload),
      el("details", {}, el("summary", {}, "Let a provider bill you"), giving(reload))
    ]
  })
}

const grantTable = (rows: ReadonlyArray<Grant>, said: HTMLElement, reload: () => Promise<void>): HTMLElement =>
  table(
    "Grants",
    [
      {
        name: "To",
        cell: (one) =>
          el(
            "span",
            {},
            el("a", { href: `/catalog?provider_id=${one.provider_id}` }, `provider ${one.provider_id.slice(0, 8)}`),
            one.tool_ids.length === 0 ? ", all tools" : `, ${plural(one.tool_ids.length, "tool")}`
          )
      },
      { name: "", cell: ({ status }) => badge(STATES[status][0], STATES[status][1]) },
      {
        name: "Cap",
        cell: (one) => `${money(one.cap_microcents)} ${CAP_PERIODS.find(([value]) => value === one.period)![1]}`,
        isNumber: true
      },
      { name: "Spent", cell: (one) => money(one.spent_microcents), isNumber: true },
      { name: "Until", cell: (one) => (one.expires_at === null ? "You take it back" : moment(one.expires_at)) },
      { name: "", cell: (one) => (one.status === "active" ? revoking(one, said, reload) : undefined) }
    ],
    rows
  )

const revoking = ({ grant_id: id }: Grant, said: HTMLElement, reload: () => Promise<void>): HTMLElement =>
  deed(
    "Take back",
    said,
    async (idempotencyKey) => {
      const agreed = await confirmed({
        title: "Take this grant back?",
        text: [el("p", {}, "What was billed under it stays billed.")],
        yes: "Take it back",
        isDangerous: true
      })
      if (!agreed) return undefined
      await ask("DELETE", `${PATH}/${id}`, { key: keyOf("consumer"), idempotencyKey })
      await reload()
      return "Taken back."
    },
    "plain tiny"
  )

const giving = (reload: () => Promise<void>): HTMLElement =>
  form({
    id: "grant",
    submit: "Give the grant",
    fields: [
      { name: "provider_id", label: "Id of the provider", hint: "The page of one of its tools shows it." },
      { name: "cap_microcents", label: "At most, in dollars", type: "number", value: "5.00" },
      { name: "period", label: "How often", type: "select", choices: CAP_PERIODS, value: "month" }
    ],
    send: async ({ cap_microcents: cap, period, provider_id: provider }, idempotencyKey) => {
      const body = { provider_id: provider, cap_microcents: amountIn("cap_microcents", cap), period }
      await ask("POST", PATH, { key: keyOf("consumer"), idempotencyKey, body })
      await reload()
      return undefined
    }
  })

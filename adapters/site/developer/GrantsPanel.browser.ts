/**
 * Grants: permission for a provider to bill the developer for calls that the provider reports.
 */
import { accountApi } from "../kit/AccountApi.browser.ts"
import { actionButton, statusArea } from "../kit/Action.browser.ts"
import { badge, el } from "../kit/Dom.browser.ts"
import { dateTime, money, plural } from "../kit/Format.browser.ts"
import { form } from "../kit/Form.browser.ts"
import { type Panel, panel } from "../kit/Panel.browser.ts"
import type { Grants } from "../kit/ApiResponses.browser.ts"
import { table } from "../kit/Table.browser.ts"
import { LIMIT_PERIODS, limitIn, periodLabel } from "./BudgetsPanel.browser.ts"

type Grant = Grants["grants"][number]

const PATH = "/api/v1/market/grants"

const STATUSES = { active: ["Active", "good"], revoked: ["Revoked", ""], expired: ["Expired", ""] } as const

const api = accountApi("consumer")

export const grantsPanel = (): Panel => {
  const status = statusArea()
  return panel("grants", "Grants", async (reload) => {
    const { grants } = await api.get<Grants>(PATH)
    return [
      status,
      grantTable(grants, status, reload),
      el("details", el("summary", "Create grant"), createForm(reload))
    ]
  })
}

const grantTable = (all: ReadonlyArray<Grant>, status: HTMLElement, reload: () => Promise<void>): HTMLElement =>
  table(
    "Grants",
    [
      {
        name: "Provider",
        cell: (one) =>
          el(
            "span",
            el("a", { href: `/catalog?provider_id=${one.provider_id}` }, one.provider_id.slice(0, 8)),
            one.tool_ids.length === 0 ? ", all tools" : `, ${plural(one.tool_ids.length, "tool")}`
          )
      },
      { name: "Status", cell: (one) => badge(STATUSES[one.status][0], STATUSES[one.status][1]) },
      { name: "Limit", cell: (one) => `${money(one.cap_microcents)} ${periodLabel(one.period)}`, isNumber: true },
      { name: "Spent", cell: (one) => money(one.spent_microcents), isNumber: true },
      { name: "Expires", cell: (one) => (one.expires_at === null ? "Never" : dateTime(one.expires_at)) },
      {
        name: "",
        cell: (one) =>
          one.status !== "active"
            ? undefined
            : actionButton({
                label: "Revoke",
                style: "plain tiny",
                status,
                confirm: {
                  title: "Revoke this grant?",
                  text: ["The provider can no longer bill you. Calls that were already billed stay billed."],
                  action: "Revoke grant",
                  isDangerous: true
                },
                run: async (idempotencyKey) => {
                  await api.delete(`${PATH}/${one.grant_id}`, idempotencyKey)
                  await reload()
                  return "Grant revoked."
                }
              })
      }
    ],
    all,
    "No grants. A provider that reports its own calls needs one to bill you."
  )

const createForm = (reload: () => Promise<void>): HTMLElement =>
  form({
    id: "grant",
    submit: "Create grant",
    fields: [
      { name: "provider_id", label: "Provider ID", hint: "Shown on the pages of its tools." },
      { name: "cap_microcents", label: "Limit in dollars", type: "number", value: "5.00" },
      { name: "period", label: "Period", type: "select", choices: LIMIT_PERIODS, value: "month" }
    ],
    send: async ({ cap_microcents: limit, period, provider_id }, idempotencyKey) => {
      await api.post(PATH, { provider_id, cap_microcents: limitIn(limit), period }, idempotencyKey)
      await reload()
    }
  })

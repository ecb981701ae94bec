/**
 * Grants: permission for a provider to bill the developer for calls that the provider reports.
 */
import { useState } from "preact/hooks"
import { ActionButton } from "../../console/ActionButton.browser.ts"
import { type Badges, statusBadge } from "../../console/Badge.browser.ts"
import { type ConsoleContext, useConsole } from "../../console/ConsoleContext.browser.ts"
import type { Column } from "../../console/DataTable.browser.ts"
import { InputForm } from "../../console/InputForm.browser.ts"
import { ListView } from "../../console/ListView.browser.ts"
import { TimeText } from "../../console/TimeText.browser.ts"
import type { Grants } from "../../kit/ApiResponses.browser.ts"
import { money, plural } from "../../kit/Format.browser.ts"
import { LIMIT_PERIODS, limitIn, periodLabel } from "./LimitPeriods.browser.ts"
import { h, type View } from "../../console/View.browser.ts"

type Grant = Grants["grants"][number]

const PATH = "/api/v1/market/grants"

const STATUSES: Badges<Grant["status"]> = {
  active: ["Active", "good"],
  revoked: ["Revoked", ""],
  expired: ["Expired", ""]
}

export const GrantList = (): View => {
  const { api } = useConsole()
  const [version, setVersion] = useState(0)
  const changed = () => setVersion((before) => before + 1)
  return h(
    "section",
    { id: "grants" },
    h("h2", null, "Grants"),
    h(ListView<Grant>, {
      id: "grants",
      caption: "Grants",
      version,
      load: async () => ({ rows: (await api.get<Grants>(PATH)).grants, next: null }),
      keyOf: ({ grant_id }) => grant_id,
      columns: columnsOf(api, changed),
      empty: "No grants. A provider that reports its own calls needs one to bill you."
    }),
    h(
      "details",
      null,
      h("summary", null, "Create grant"),
      h(InputForm, {
        id: "grant",
        submit: "Create grant",
        fields: [
          { name: "provider_id", label: "Provider ID", hint: "Shown on the provider's page in the catalog." },
          { name: "cap_microcents", label: "Limit in dollars", type: "number", value: "5.00" },
          { name: "period", label: "Period", type: "select", choices: LIMIT_PERIODS, value: "month" }
        ],
        send: async ({ cap_microcents: limit, period, provider_id }, idempotencyKey) => {
          await api.post(PATH, { provider_id, cap_microcents: limitIn(limit), period }, idempotencyKey)
          changed()
          return "Grant created."
        }
      })
    )
  )
}

const columnsOf = (api: ConsoleContext["api"], changed: () => void): ReadonlyArray<Column<Grant>> => [
  {
    name: "Provider",
    cell: (one) => [
      h("a", { key: "provider", href: `/catalog?provider_id=${one.provider_id}` }, one.provider_id.slice(0, 8)),
      one.tool_ids.length === 0 ? ", all tools" : `, ${plural(one.tool_ids.length, "tool")}`
    ],
    csv: (one) => one.provider_id
  },
  {
    name: "Status",
    cell: (one) => statusBadge(STATUSES, one.status),
    sortBy: (one) => one.status,
    csv: (one) => one.status
  },
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
  { name: "Expires", cell: (one) => (one.expires_at === null ? "Never" : h(TimeText, { at: one.expires_at })) },
  {
    name: "",
    cell: (one) =>
      one.status !== "active"
        ? undefined
        : h(ActionButton, {
            label: "Revoke",
            style: "plain tiny",
            confirm: {
              title: "Revoke this grant?",
              text: "The provider can no longer bill you. Calls that were already billed stay billed.",
              action: "Revoke grant",
              isDangerous: true
            },
            run: async (idempotencyKey) => {
              await api.delete(`${PATH}/${one.grant_id}`, idempotencyKey)
              changed()
              return "Grant revoked."
            }
          })
  }
]

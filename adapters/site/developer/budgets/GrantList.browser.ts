/**
 * Grants: permission for a provider to bill the developer for calls that the provider reports.
 */
import type { Column } from "../../console/DataTable.browser.ts"
import { ProviderLink } from "../../console/PublicNames.browser.ts"
import { type Badges, statusBadge, TimeText } from "../../console/Values.browser.ts"
import { h, type View } from "../../console/View.browser.ts"
import type { Grants } from "../../kit/ApiResponses.browser.ts"
import { plural } from "../../kit/Format.browser.ts"
import { limitColumn, LimitList, spentColumn } from "./LimitList.browser.ts"
import { LIMIT_PERIODS, limitIn } from "./LimitPeriods.browser.ts"

type Grant = Grants["grants"][number]

const STATUSES: Badges<Grant["status"]> = {
  active: ["Active", "good"],
  revoked: ["Revoked", ""],
  expired: ["Expired", ""]
}

export const GrantList = (): View =>
  h(LimitList<Grant, Grants>, {
    id: "grants",
    title: "Grants",
    path: "/api/v1/market/grants",
    purpose: "A grant lets a provider bill you, up to a limit, for calls that you make outside this service.",
    rowsOf: ({ grants }) => grants,
    idOf: ({ grant_id: id }) => id,
    columns: COLUMNS,
    empty: "No grants. No provider can bill you for calls that it reports itself.",
    ending: {
      label: "Revoke",
      isPossible: ({ status }) => status === "active",
      confirm: {
        title: "Revoke this grant?",
        text: "The provider can no longer bill you. Calls that were already billed stay billed.",
        action: "Revoke grant",
        isDangerous: true
      },
      message: "Grant revoked."
    },
    form: {
      id: "grant",
      submit: "Create grant",
      fields: [
        { name: "provider_id", label: "Provider ID", hint: "Shown on the provider's page in the catalog." },
        { name: "cap_microcents", label: "Limit in dollars", type: "number", value: "5.00" },
        { name: "period", label: "Period", type: "select", choices: LIMIT_PERIODS, value: "month" }
      ],
      bodyOf: ({ cap_microcents: limit, period, provider_id }) => ({
        provider_id,
        cap_microcents: limitIn(limit),
        period
      }),
      messageOf: () => "Grant created."
    }
  })

const COLUMNS: ReadonlyArray<Column<Grant>> = [
  {
    name: "Provider",
    cell: (one) => [
      h(ProviderLink, { key: "provider", id: one.provider_id }),
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
  limitColumn,
  spentColumn,
  { name: "Expires", cell: (one) => (one.expires_at === null ? "Never" : h(TimeText, { at: one.expires_at })) }
]

/**
 * Disputes about calls of the provider's tools, each with its details and the provider's answer.
 */
import { Fragment } from "preact"
import { type TabProps, useConsole } from "../../console/ConsoleContext.browser.ts"
import type { Column } from "../../console/DataTable.browser.ts"
import {
  costColumn,
  decisionDeadline,
  type Dispute,
  disputePage,
  filedColumn,
  reasonColumn,
  reasonLabel,
  statusFilter
} from "../../console/DisputeTerms.browser.ts"
import { ListView } from "../../console/ListView.browser.ts"
import { Loaded, useResource } from "../../console/Resource.browser.ts"
import { TimeText } from "../../console/TimeText.browser.ts"
import { h, type View } from "../../console/View.browser.ts"
import { openDisputes } from "./OpenDisputes.browser.ts"
import { OpenDisputesNotice } from "./OpenDisputesNotice.browser.ts"
import { ProviderDispute } from "./ProviderDispute.browser.ts"
import { deciderOf, needsResponse, providerBadge, STATUSES } from "./ProviderDisputeStatuses.browser.ts"

const FILTERS = [statusFilter(STATUSES)]

export const tab = ({ detail }: TabProps): View => {
  if (detail !== undefined) return h(ProviderDispute, { key: detail, id: detail })
  return h(DisputeList, null)
}

const DisputeList = (): View => {
  const { api } = useConsole()
  const open = useResource(() => openDisputes(api), [])
  return h(
    Fragment,
    null,
    h(Loaded<ReadonlyArray<Dispute>>, {
      of: open,
      show: (all) => h(OpenDisputesNotice, { open: all.length, next: all[0] })
    }),
    h(
      "section",
      { id: "disputes" },
      h(ListView<Dispute>, {
        id: "disputes",
        caption: "Disputes",
        filters: FILTERS,
        load: (cursor, { status }) => disputePage(api, cursor, status),
        keyOf: ({ dispute_id: id }) => id,
        textOf: (one) => `${reasonLabel(one.reason)} ${one.receipt_id} ${textOf(one)}`,
        columns: COLUMNS,
        empty: "No disputes. Developers can dispute a call for 30 days; you then have 7 days to respond."
      })
    )
  )
}

const textOf = (one: Dispute): string => one.note ?? one.answer?.text ?? one.claim.text ?? ""

const COLUMNS: ReadonlyArray<Column<Dispute>> = [
  filedColumn,
  reasonColumn,
  costColumn,
  {
    name: "Status",
    cell: (one) => [
      providerBadge(one),
      decisionDeadline(one),
      needsResponse(one)
        ? h("div", { key: "respond", class: "small muted" }, "by ", h(TimeText, { at: one.respond_by }))
        : undefined
    ],
    sortBy: (one) => one.status,
    csv: (one) => one.status
  },
  { name: "Decided by", cell: (one) => deciderOf(one) ?? "–", csv: (one) => deciderOf(one) ?? "" },
  { name: "Details", cell: (one) => (textOf(one) === "" ? "–" : textOf(one)), isLong: true, csv: textOf }
]

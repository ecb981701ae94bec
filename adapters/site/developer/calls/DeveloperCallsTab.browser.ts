/**
 * The developer's calls, newest first, each with its details.
 */
import type { ComponentChildren } from "preact"
import { useRef } from "preact/hooks"
import { type Call, CALL_FILTERS, callColumns, receiptColumn, USAGE_PATH } from "../../console/CallColumns.browser.ts"
import { CallDetail, type Receipt } from "../../console/CallDetail.browser.ts"
import { type ConsoleApi, type TabProps, useConsole } from "../../console/ConsoleContext.browser.ts"
import type { Column } from "../../console/DataTable.browser.ts"
import {
  type Dispute,
  DISPUTE_REASONS,
  DISPUTE_STATUSES,
  disputePage,
  DISPUTES_PATH,
  reasonLabel
} from "../../console/DisputeDetail.browser.ts"
import { InputForm } from "../../console/InputForm.browser.ts"
import { ListView } from "../../console/ListView.browser.ts"
import { pathTo } from "../../console/Place.browser.ts"
import { loaded, useResource } from "../../console/Resource.browser.ts"
import { Badge, Empty, h, section, statusBadge, type View } from "../../console/View.browser.ts"
import type { UsagePage } from "../../kit/ApiResponses.browser.ts"

// The developer's disputes by the receipt of their call.

const READ_LIMIT = 100

/** Those filed since then. Disputes are listed newest first. */
const disputedCalls = async (api: ConsoleApi, sinceMs: number): Promise<ReadonlyMap<string, Dispute>> => {
  const found = new Map<string, Dispute>()
  let cursor: string | undefined
  do {
    const { next, rows } = await disputePage(api, cursor, undefined, READ_LIMIT)
    for (const one of rows) found.set(one.receipt_id, one)
    const last = rows.at(-1)
    cursor = last !== undefined && Date.parse(last.created_at) >= sinceMs ? (next ?? undefined) : undefined
  } while (cursor !== undefined)
  return found
}

// Disputes a paid call, or leads to its dispute.

const DISPUTABLE_DAYS = 30
const DAY_MS = 86_400_000

const CallDispute = ({ receipt }: { readonly receipt: Receipt }): View => {
  const { api } = useConsole()
  const dispute = useResource(async () => {
    // A dispute is filed after its call.
    const disputed = await disputedCalls(api, Date.parse(receipt.created_at))
    return disputed.get(receipt.receipt_id) ?? null
  }, [receipt.receipt_id])
  return section(
    "dispute",
    h("h2", null, "Dispute"),
    loaded(dispute, (found) =>
      found === null ? h(NewDispute, { receipt, filed: dispute.reload }) : filedDispute(found)
    )
  )
}

const filedDispute = (dispute: Dispute): View =>
  h(
    "p",
    null,
    h("a", { href: pathTo("disputes", dispute.dispute_id) }, reasonLabel(dispute.reason)),
    " ",
    statusBadge(DISPUTE_STATUSES.consumer, dispute.status)
  )

interface NewDisputeProps {
  readonly receipt: Receipt
  readonly filed: () => Promise<void>
}

const NewDispute = ({ filed, receipt }: NewDisputeProps): ComponentChildren => {
  const { api } = useConsole()
  if (receipt.cost_microcents === 0) return h(Empty, null, "This call was not charged, so there is nothing to dispute.")
  if (Date.now() - Date.parse(receipt.timestamp) > DISPUTABLE_DAYS * DAY_MS) {
    return h(Empty, null, `A call can be disputed for ${DISPUTABLE_DAYS} days.`)
  }
  return [
    h("p", { class: "muted" }, "If the provider does not respond within 7 days, you are refunded."),
    h(InputForm, {
      id: "new-dispute",
      submit: "File dispute",
      fields: [
        { name: "reason", label: "Reason", type: "select", choices: DISPUTE_REASONS, value: "quality" },
        { name: "description", label: "Description", type: "textarea", optional: true },
        { name: "reference", label: "Your reference", optional: true, placeholder: "SUP-1042" }
      ],
      send: async ({ description, reason, reference }, idempotencyKey) => {
        const body = {
          receipt_id: receipt.receipt_id,
          reason,
          ...(description === "" ? {} : { description }),
          ...(reference === "" ? {} : { reference })
        }
        await api.post(DISPUTES_PATH, body, idempotencyKey)
        await filed()
      }
    })
  ]
}

const PAGE_SIZE = 20
const DISPUTES_SHOWN_DAYS = 90

export const tab = ({ detail }: TabProps): View => {
  const { account, api } = useConsole()
  const disputes = useRef<Promise<ReadonlyMap<string, Dispute>> | undefined>(undefined)
  if (detail !== undefined) {
    return h(CallDetail, {
      id: detail,
      actions: (receipt) => (receipt.agent_id === account.id ? h(CallDispute, { receipt }) : undefined)
    })
  }
  return section(
    "calls",
    h(ListView<DeveloperCall>, {
      id: "calls",
      caption: "Calls",
      filters: CALL_FILTERS,
      load: async (cursor, { period = "30d", status }) => {
        const page = await api.get<UsagePage>(USAGE_PATH, { period, status, limit: PAGE_SIZE, cursor })
        disputes.current ??= disputedCalls(api, Date.now() - DISPUTES_SHOWN_DAYS * DAY_MS)
        const disputed = await disputes.current
        return {
          rows: page.records.map((call) => ({ ...call, dispute: disputed.get(call.receipt_id) })),
          next: page.next_cursor
        }
      },
      keyOf: ({ receipt_id }) => receipt_id,
      textOf: (call) => `${call.tool_name} ${call.tool} ${call.receipt_id} ${call.status}`,
      columns: COLUMNS,
      empty: [
        "No calls in the last 30 days. ",
        h("a", { href: "/catalog", key: "catalog" }, "Browse the catalog"),
        " or ",
        h("a", { href: pathTo("connect"), key: "connect" }, "connect a client"),
        "."
      ]
    })
  )
}

interface DeveloperCall extends Call {
  readonly dispute: Dispute | undefined
}

const COLUMNS: ReadonlyArray<Column<DeveloperCall>> = [
  ...callColumns,
  receiptColumn,
  {
    name: "Dispute",
    cell: ({ dispute }) =>
      dispute === undefined
        ? "–"
        : h("a", { href: pathTo("disputes", dispute.dispute_id) }, h(Badge, { label: "Disputed", style: "info" })),
    sortBy: ({ dispute }) => (dispute === undefined ? 0 : 1),
    csv: ({ dispute }) => dispute?.status ?? ""
  }
]

/**
 * The developer's disputes, and the dialog that files one.
 */
import { accountApi } from "../kit/AccountApi.browser.ts"
import type { Call } from "../kit/Calls.browser.ts"
import { openDialog } from "../kit/Dialog.browser.ts"
import {
  decisionDeadline,
  type Dispute,
  DISPUTE_REASONS,
  DISPUTES_PATH,
  disputeTable,
  readDisputes,
  reasonLabel
} from "../kit/DisputeList.browser.ts"
import { badge, el } from "../kit/Dom.browser.ts"
import { dateTime, money } from "../kit/Format.browser.ts"
import { form } from "../kit/Form.browser.ts"
import { type Panel, panel } from "../kit/Panel.browser.ts"

const READ_LIMIT = 100

const STATUSES: Readonly<Record<Dispute["status"], readonly [label: string, style: string]>> = {
  filed: ["Waiting for provider", "info"],
  under_review: ["Under review", "info"],
  resolved_refund: ["Refunded", "good"],
  resolved_credit: ["Credited", "good"],
  resolved_denied: ["Denied", "bad"]
}

/** Receipts with a dispute filed since then. Disputes are listed newest first. */
export const disputedReceipts = async (sinceMs: number): Promise<ReadonlySet<string>> => {
  const found = new Set<string>()
  let cursor: string | undefined
  do {
    const { disputes: items, next_cursor: next } = await readDisputes("consumer", { limit: READ_LIMIT, cursor })
    for (const { receipt_id: id } of items) found.add(id)
    const last = items.at(-1)
    cursor = last !== undefined && Date.parse(last.created_at) >= sinceMs ? (next ?? undefined) : undefined
  } while (cursor !== undefined)
  return found
}

export const disputesPanel = (): Panel =>
  panel("disputes", "Disputes", async () => [
    await disputeTable(
      "consumer",
      [
        { name: "Filed", cell: (one) => dateTime(one.created_at) },
        { name: "Reason", cell: (one) => reasonLabel(one.reason) },
        { name: "Cost", cell: (one) => money(one.cost_microcents), isNumber: true },
        {
          name: "Status",
          cell: (one) => [badge(STATUSES[one.status][0], STATUSES[one.status][1]), decisionDeadline(one)]
        },
        { name: "Refunded", cell: (one) => [money(one.refunded_microcents), outstanding(one)], isNumber: true },
        { name: "Response", cell: responseOf, isLong: true }
      ],
      "No disputes. You can dispute a paid call for 30 days."
    )
  ])

/** The part of the refund that the provider still owes. */
const outstanding = ({ outstanding_microcents: owed }: Dispute): Node | undefined =>
  owed > 0 ? el("div", { class: "muted" }, `${money(owed)} outstanding`) : undefined

const responseOf = (one: Dispute): Node =>
  el(
    "span",
    one.answer?.text ?? one.note ?? (one.status === "filed" ? "Due " : ""),
    one.status === "filed" ? dateTime(one.respond_by) : undefined
  )

export const openDisputeDialog = (call: Call, filed: () => void): void => {
  const dialog = openDialog(
    "Dispute call",
    el("p", `${call.tool_name}, ${money(call.cost_microcents)}, `, dateTime(call.created_at)),
    el("p", { class: "muted" }, "If the provider does not respond within 7 days, you are refunded."),
    form({
      id: "dispute",
      submit: "File dispute",
      fields: [
        { name: "reason", label: "Reason", type: "select", choices: DISPUTE_REASONS, value: "quality" },
        { name: "description", label: "Description", type: "textarea", optional: true }
      ],
      send: async ({ description, reason }, idempotencyKey) => {
        const body = { receipt_id: call.receipt_id, reason, ...(description === "" ? {} : { description }) }
        await accountApi("consumer").post(DISPUTES_PATH, body, idempotencyKey)
        dialog.close()
        filed()
      }
    })
  )
}

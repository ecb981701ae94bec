/**
 * Disputes against the provider's calls: respond to open ones, see the outcome of others.
 */
import { accountApi } from "../kit/AccountApi.browser.ts"
import { actionButton, statusArea } from "../kit/Action.browser.ts"
import {
  decisionDeadline,
  type Dispute,
  DISPUTES_PATH,
  disputeTable,
  readDisputes,
  reasonLabel
} from "../kit/DisputeList.browser.ts"
import { badge, el, facts, fill, notice } from "../kit/Dom.browser.ts"
import { dateTime, money, relativeTime } from "../kit/Format.browser.ts"
import { form } from "../kit/Form.browser.ts"
import { type Panel, panel } from "../kit/Panel.browser.ts"
import { receiptButton } from "../kit/ReceiptDialog.browser.ts"
import type { DisputeResponse } from "../kit/ApiResponses.browser.ts"
import type { Column } from "../kit/Table.browser.ts"

const OPEN_MAX = 100

const STATUSES = {
  filed: ["Response required", "info"],
  under_review: ["Under review", "info"],
  resolved_refund: ["Refunded", "bad"],
  resolved_denied: ["Denied", "good"],
  resolved_credit: ["Credited by platform", ""]
} as const

const DECIDERS = {
  evidence: "Receipt",
  provider: "You",
  deadline: "Response deadline",
  operator: "Operator",
  operator_deadline: "Review deadline",
  chargeback: "Chargeback"
} as const

/** `refunded` is called when money may have moved. */
export const disputesPanel = (refunded: () => void): Panel => {
  const status = statusArea()
  return panel("disputes", "Disputes", async (reload) => {
    const responded = async () => {
      await reload()
      refunded()
    }
    const [open, list] = await Promise.all([
      readDisputes("provider", { status: "filed", limit: OPEN_MAX }),
      disputeTable("provider", COLUMNS, NO_DISPUTES)
    ])
    const own = open.disputes.filter((one) => one.filed_by_type === "agent")
    if (own.length === 0) return [status, list]
    return [
      status,
      el("h3", "Response required"),
      el(
        "div",
        { class: "grid" },
        own.toReversed().map((one) => disputeCard(one, status, responded))
      ),
      el("h3", "All disputes"),
      list
    ]
  })
}

const disputeCard = (dispute: Dispute, status: HTMLElement, responded: () => Promise<void>): HTMLElement => {
  const { claim, cost_microcents: cost, dispute_id: id, respond_by: by } = dispute
  const respond = (body: object, idempotencyKey: string) =>
    accountApi("provider").post<DisputeResponse>(`${DISPUTES_PATH}/${id}/respond`, body, idempotencyKey)
  const accept = actionButton({
    label: `Refund ${money(cost)}`,
    style: "danger",
    status,
    confirm: {
      title: `Refund ${money(cost)}?`,
      text: [
        "The refund is paid from your balance; your next earnings cover the rest. The platform refunds its fee.",
        "This cannot be undone, and counts as a lost dispute."
      ],
      action: "Refund",
      isDangerous: true
    },
    run: async (idempotencyKey) => {
      const { outstanding_microcents: owed, refunded_microcents: paid } = await respond(
        { action: "accept" },
        idempotencyKey
      )
      await responded()
      const rest = owed > 0 ? ` You owe ${money(owed)}, which your next earnings pay.` : ""
      return `Dispute accepted: ${money(paid)} refunded to the developer.${rest}`
    }
  })
  const contest = form({
    id: `contest-${id.slice(0, 8)}`,
    submit: "Contest dispute",
    fields: [
      {
        name: "message",
        label: "Response",
        type: "textarea",
        hint: "Visible to the developer and the operator. Without a decision within 30 days, the developer is refunded."
      }
    ],
    send: async ({ message }, idempotencyKey) => {
      await respond({ action: "contest", message }, idempotencyKey)
      fill(status, notice("good", "Dispute contested. The operator decides within 30 days."))
      await responded()
    }
  })
  return el(
    "article",
    { class: "card" },
    el("p", el("strong", reasonLabel(dispute.reason)), " · ", money(cost)),
    claim.text === null || claim.text === "" ? undefined : el("blockquote", claim.text),
    claim.evidence === null
      ? undefined
      : el("details", el("summary", "Evidence"), el("pre", JSON.stringify(claim.evidence, null, 2))),
    facts([
      ["Respond by", [dateTime(by), ` (${relativeTime(by)}); without a response the developer is refunded`]],
      ["Filed", dateTime(dispute.created_at)],
      ["Receipt", receiptButton(dispute.receipt_id)]
    ]),
    el("div", { class: "actions" }, accept),
    el("details", el("summary", "Contest dispute"), contest)
  )
}

const statusBadge = ({ filed_by_type: by, status }: Dispute): HTMLElement =>
  status === "filed" && by === "provider" ? badge("Refunding", "info") : badge(STATUSES[status][0], STATUSES[status][1])

const COLUMNS: ReadonlyArray<Column<Dispute>> = [
  { name: "Filed", cell: (one) => dateTime(one.created_at) },
  { name: "Reason", cell: (one) => reasonLabel(one.reason) },
  { name: "Cost", cell: (one) => money(one.cost_microcents), isNumber: true },
  { name: "Status", cell: (one) => [statusBadge(one), decisionDeadline(one)] },
  { name: "Decided by", cell: (one) => (one.decided_by === null ? "–" : DECIDERS[one.decided_by]) },
  { name: "Details", cell: (one) => one.note ?? one.answer?.text ?? one.claim.text ?? "–", isLong: true },
  { name: "", cell: (one) => receiptButton(one.receipt_id) }
]

const NO_DISPUTES = "No disputes. Developers can dispute a call for 30 days; you then have 7 days to respond."

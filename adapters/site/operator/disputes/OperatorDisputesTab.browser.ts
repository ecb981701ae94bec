/**
 * Disputes that wait for the operator's decision, and all others.
 */
import { announce } from "../../console/Announcements.browser.ts"
import { type TabProps, useConsole } from "../../console/ConsoleContext.browser.ts"
import { type Column, column, statusColumn } from "../../console/DataTable.browser.ts"
import {
  costColumn,
  DISPUTE_STATUSES,
  DisputeDetail,
  evidenceOf,
  filedColumn,
  reasonColumn,
  reasonLabel
} from "../../console/DisputeDetail.browser.ts"
import { InputForm } from "../../console/InputForm.browser.ts"
import { ListView } from "../../console/ListView.browser.ts"
import { confirmed } from "../../console/Modal.browser.ts"
import { CallLink } from "../../console/PublicNames.browser.ts"
import { facts, h, section, statusBadge, TimeText, type View } from "../../console/View.browser.ts"
import { invalid } from "../../kit/ApiRequest.browser.ts"
import { money, parseDollars, plural, relativeTime } from "../../kit/Format.browser.ts"
import {
  auditLink,
  consumerLink,
  type Dispute,
  type Disputes,
  named,
  namedId,
  OPERATOR,
  providerLink,
  type Resolved,
  rowsOf
} from "../lists/OperatorLists.browser.ts"

type DisputeRow = Disputes["disputes"][number]

const CHOICES = [
  ["", "Waiting for you"],
  ["filed", "Waiting for the provider"],
  ["resolved_refund", "Refunded"],
  ["resolved_credit", "Credited"],
  ["resolved_denied", "Denied"]
] as const

export const tab = ({ detail }: TabProps): View => {
  const { api } = useConsole()
  if (detail !== undefined) return h(DisputeDecision, { id: detail })
  return section(
    "disputes",
    h("p", null, "A contested dispute that you do not decide in time is refunded."),
    h(ListView<DisputeRow>, {
      id: "disputes",
      caption: "Disputes",
      filters: [{ name: "status", label: "Status", choices: CHOICES }],
      load: rowsOf<"disputes", DisputeRow>(api, "/disputes", "disputes"),
      keyOf: ({ dispute_id }) => dispute_id,
      textOf: (one) =>
        `${reasonLabel(one.reason)} ${one.receipt_id} ${one.consumer_name} ${one.agent_id} ${one.provider_name} ` +
        `${one.provider_id} ${one.claim.reference ?? ""} ${one.claim.text ?? ""} ${one.answer?.text ?? ""}`,
      columns: COLUMNS,
      empty: "No dispute waits for you. A dispute appears here when its provider contests it."
    })
  )
}

const COLUMNS: ReadonlyArray<Column<DisputeRow>> = [
  filedColumn,
  column("Decide by", ({ decide_by: at }) => at, {
    cell: ({ decide_by: at }) =>
      at === null
        ? undefined
        : [h(TimeText, { at, key: "at" }), h("div", { class: "small muted", key: "in" }, relativeTime(at))]
  }),
  reasonColumn,
  costColumn,
  column("Provider", (one) => one.provider_name, {
    cell: (one) => named(providerLink, one.provider_name, one.provider_id),
    csv: (one) => namedId(one.provider_name, one.provider_id)
  }),
  { name: "Claim", cell: ({ claim }) => claim.text, isLong: true, csv: ({ claim }) => claim.text ?? "" },
  statusColumn("Status", DISPUTE_STATUSES.operator, ({ status }) => status)
]

// One dispute with both statements, the filer's record, and the decision.

const DisputeDecision = ({ id }: { readonly id: string }): View =>
  h(DisputeDetail<Dispute>, {
    path: `${OPERATOR}/disputes`,
    id,
    show: (one, reload) => [
      facts(factsOf(one)),
      one.status === "under_review" || one.status === "filed" ? h(Decide, { dispute: one, decided: reload }) : undefined
    ]
  })

const factsOf = (one: Dispute) =>
  [
    ["Status", statusBadge(DISPUTE_STATUSES.operator, one.status)],
    [
      "Decide by",
      one.decide_by === null || one.resolved_at !== null
        ? undefined
        : [h(TimeText, { at: one.decide_by, key: "at" }), `, ${relativeTime(one.decide_by)}`]
    ],
    ["Cost", money(one.cost_microcents)],
    ["Reason", reasonLabel(one.reason)],
    [
      "Filed",
      [
        h(TimeText, { at: one.created_at, key: "at" }),
        ` by the ${one.filed_by_type === "agent" ? "consumer" : "provider"}`
      ]
    ],
    ["Consumer", consumerLink(one.agent_id, namedId(one.consumer_name, one.agent_id))],
    ["Provider", providerLink(one.provider_id, namedId(one.provider_name, one.provider_id))],
    ["Call", h(CallLink, { href: `/verify?receipt=${encodeURIComponent(one.receipt_id)}`, receiptId: one.receipt_id })],
    ["Claim", one.claim.text ?? "No text"],
    ["Filer's reference", one.claim.reference ?? undefined],
    ["Evidence", evidenceOf(one.claim.evidence)],
    ["Response", one.answer === null ? "None" : (one.answer.text ?? "No text")],
    ["Provider's evidence", evidenceOf(one.answer?.evidence ?? null)],
    ["Filer's record", recordOf(one.details)],
    ["Decided", one.resolved_at === null ? undefined : h(TimeText, { at: one.resolved_at })],
    ["Decision", one.note ?? undefined],
    ["Refunded", one.resolved_at === null ? undefined : money(one.refunded_microcents)],
    ["Outstanding", one.outstanding_microcents === 0 ? undefined : money(one.outstanding_microcents)],
    ["History", auditLink(one.dispute_id)]
  ] as const

const recordOf = ({ denied, filed_in_all: filed, filed_last_day: lastDay, upheld }: Dispute["details"]): string =>
  `${plural(filed, "dispute")} filed (${lastDay} in the last day), ${upheld} refunded, ${denied} denied`

const RESOLUTIONS = [
  ["resolved_refund", "Refund: the provider was at fault"],
  ["resolved_denied", "Deny: the provider keeps its earnings"],
  ["resolved_credit", "Credit from platform funds: no fault"]
] as const

const CONFIRMATIONS = {
  resolved_refund: ["Refund this call?", "Refund"],
  resolved_denied: ["Deny this dispute?", "Deny"],
  resolved_credit: ["Credit the consumer?", "Credit"]
} as const

/** Says who gets what, in the last question before money moves. */
const effectOf = (resolution: keyof typeof CONFIRMATIONS, one: Dispute, credit: number | undefined): string => {
  const cost = money(one.cost_microcents)
  switch (resolution) {
    case "resolved_refund":
      return `${one.provider_name} refunds ${cost} to ${one.consumer_name}.`
    case "resolved_denied":
      return `${one.provider_name} keeps its earnings from this call, which cost ${cost}.`
    case "resolved_credit":
      return `The platform pays ${credit === undefined ? cost : money(credit)} to ${one.consumer_name}.`
  }
}

const Decide = ({ decided, dispute }: { readonly dispute: Dispute; readonly decided: () => Promise<void> }): View => {
  const { api } = useConsole()
  return section(
    "decide",
    h("h2", null, "Decision"),
    h(InputForm, {
      id: "decision",
      submit: "Decide dispute",
      keepsValues: true,
      fields: [
        { name: "resolution", label: "Decision", type: "select", choices: RESOLUTIONS },
        {
          name: "amount_microcents",
          label: "Credit in dollars",
          type: "number",
          optional: true,
          hint: `Only for a credit. Default: the cost of the call, ${money(dispute.cost_microcents)}.`
        },
        { name: "note", label: "Reason", type: "textarea", hint: "Both parties see it." }
      ],
      send: async ({ amount_microcents: dollars = "", note, resolution }, idempotencyKey) => {
        const chosen = resolution as keyof typeof CONFIRMATIONS
        const amount = dollars === "" || chosen !== "resolved_credit" ? undefined : parseDollars(dollars)
        if (dollars !== "" && chosen === "resolved_credit" && amount === undefined) {
          throw invalid({ amount_microcents: "Enter an amount in dollars, such as 0.25." })
        }
        const [title, action] = CONFIRMATIONS[chosen]
        const text = `${effectOf(chosen, dispute, amount)} A decision is final, and money moves immediately.`
        if (!(await confirmed({ title, action, text }))) return
        const path = `/api/v1/market/disputes/${encodeURIComponent(dispute.dispute_id)}/resolve`
        await api.post<Resolved>(path, { resolution, note, amount_microcents: amount }, idempotencyKey)
        await decided()
        announce("good", "Dispute decided.")
      }
    })
  )
}

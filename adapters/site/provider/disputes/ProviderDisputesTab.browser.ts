/**
 * Disputes about calls of the provider's tools, each with its details and the provider's answer.
 */
import type { ComponentChildren } from "preact"
import { ActionButton } from "../../console/ActionButton.browser.ts"
import { announce } from "../../console/Announcements.browser.ts"
import { type ConsoleApi, type TabProps, useConsole } from "../../console/ConsoleContext.browser.ts"
import { type Column, column } from "../../console/DataTable.browser.ts"
import {
  costColumn,
  decisionDeadline,
  type Dispute,
  DISPUTE_STATUSES,
  DisputeDetail,
  disputePage,
  DISPUTES_PATH,
  evidenceOf,
  filedColumn,
  reasonColumn,
  reasonLabel
} from "../../console/DisputeDetail.browser.ts"
import { InputForm } from "../../console/InputForm.browser.ts"
import { ListView } from "../../console/ListView.browser.ts"
import { pathTo } from "../../console/Place.browser.ts"
import { CallLink } from "../../console/PublicNames.browser.ts"
import { loaded, useResource } from "../../console/Resource.browser.ts"
import { facts, h, section, statusBadge, statusChoices, TimeText, type View } from "../../console/View.browser.ts"
import type { DisputeResponse } from "../../kit/ApiResponses.browser.ts"
import { money, relativeTime } from "../../kit/Format.browser.ts"
import { OpenDisputesNotice } from "./OpenDisputesNotice.browser.ts"

// The meaning of a dispute's status for the provider, and who decided it.

/** Refunds that the provider began itself need no response. */
const needsResponse = ({ filed_by_type: by, status }: Dispute): boolean => status === "filed" && by === "agent"

const providerBadge = (dispute: Dispute): View =>
  dispute.status === "filed" && !needsResponse(dispute)
    ? statusBadge({ filed: ["Refunding", "info"] }, "filed")
    : statusBadge(DISPUTE_STATUSES.provider, dispute.status)

const DECIDERS: Readonly<Record<NonNullable<Dispute["decided_by"]>, string>> = {
  evidence: "Receipt",
  provider: "You",
  deadline: "Response deadline",
  operator: "Operator",
  operator_deadline: "Review deadline",
  chargeback: "Chargeback"
}

const deciderOf = ({ decided_by: by }: Dispute): string | undefined => (by === null ? undefined : DECIDERS[by])

// Disputes that wait for the provider's response.

const READ_MAX = 100

/** The oldest of the newest ones comes first: its deadline is the next. */
const openDisputes = async (api: ConsoleApi): Promise<ReadonlyArray<Dispute>> => {
  const { rows } = await disputePage(api, undefined, "filed", READ_MAX)
  return rows.filter(needsResponse).toReversed()
}

// The provider's answer to a dispute: refund the call, or contest the claim.

interface DisputeAnswerProps {
  readonly dispute: Dispute
  readonly answered: () => Promise<void>
}

const DisputeAnswer = ({ answered, dispute }: DisputeAnswerProps): View => {
  const { api } = useConsole()
  const cost = money(dispute.cost_microcents)
  const respond = (body: object, idempotencyKey: string) =>
    api.post<DisputeResponse>(`${DISPUTES_PATH}/${dispute.dispute_id}/respond`, body, idempotencyKey)
  return section(
    "answer",
    h("h2", null, "Your response"),
    h(
      "p",
      null,
      "Refund the call if the developer is right. Otherwise contest the dispute: the operator then decides within 30 days."
    ),
    h(
      "div",
      { class: "actions" },
      h(ActionButton, {
        label: `Refund ${cost}`,
        style: "danger",
        confirm: {
          title: `Refund ${cost}?`,
          text: [
            h(
              "p",
              null,
              "The refund is paid from your balance; your next earnings cover the rest. The platform refunds its fee."
            ),
            h("p", null, "This cannot be undone, and counts as a lost dispute.")
          ],
          action: "Refund",
          isDangerous: true
        },
        run: async (idempotencyKey) => {
          const { outstanding_microcents: owed, refunded_microcents: paid } = await respond(
            { action: "accept" },
            idempotencyKey
          )
          await answered()
          const rest = owed > 0 ? ` You owe ${money(owed)}, which your next earnings pay.` : ""
          return `Dispute accepted: ${money(paid)} refunded to the developer.${rest}`
        }
      })
    ),
    h(InputForm, {
      id: "contest",
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
        await answered()
        announce("good", "Dispute contested. The operator decides within 30 days.")
      }
    })
  )
}

// One dispute: the developer's claim, the provider's answer and the decision.

const ProviderDispute = ({ id }: { readonly id: string }): View =>
  h(DisputeDetail<Dispute>, {
    path: DISPUTES_PATH,
    id,
    show: (one, reload) => [
      facts(factsOf(one)),
      one.claim.text === null || one.claim.text === ""
        ? undefined
        : [h("h2", null, "Claim"), h("blockquote", null, one.claim.text)],
      one.claim.evidence === null
        ? undefined
        : h("details", null, h("summary", null, "Evidence"), evidenceOf(one.claim.evidence)),
      needsResponse(one) ? h(DisputeAnswer, { dispute: one, answered: reload }) : undefined
    ]
  })

const factsOf = (one: Dispute) =>
  [
    ["Status", [providerBadge(one), decisionDeadline(one)]],
    [
      "Respond by",
      needsResponse(one)
        ? [
            h(TimeText, { key: "at", at: one.respond_by }),
            ` (${relativeTime(one.respond_by)}); without a response the developer is refunded`
          ]
        : undefined
    ],
    ["Reason", reasonLabel(one.reason)],
    [one.filed_by_type === "agent" ? "Developer's reference" : "Your reference", one.claim.reference ?? undefined],
    ["Cost", money(one.cost_microcents)],
    ["Refunded", one.resolved_at === null ? undefined : refundOf(one)],
    ["Call", h(CallLink, { href: pathTo("calls", one.receipt_id), receiptId: one.receipt_id })],
    ["Filed", h(TimeText, { at: one.created_at })],
    ["Your response", one.answer?.text ?? undefined],
    ["Decided by", deciderOf(one)],
    ["Decision", one.note ?? undefined],
    ["Decided", one.resolved_at === null ? undefined : h(TimeText, { at: one.resolved_at })]
  ] as const

const refundOf = (one: Dispute): string =>
  one.outstanding_microcents > 0
    ? `${money(one.refunded_microcents)}. You owe ${money(one.outstanding_microcents)}, which your next earnings pay.`
    : money(one.refunded_microcents)

const FILTERS = [{ name: "status", label: "Status", choices: statusChoices(DISPUTE_STATUSES.provider) }]

export const tab = ({ detail }: TabProps): View => {
  if (detail !== undefined) return h(ProviderDispute, { key: detail, id: detail })
  return h(DisputeList, null)
}

const DisputeList = (): ComponentChildren => {
  const { api } = useConsole()
  const open = useResource(() => openDisputes(api), [])
  return [
    loaded(open, (all) => h(OpenDisputesNotice, { open: all.length, next: all[0] })),
    section(
      "disputes",
      h(ListView<Dispute>, {
        id: "disputes",
        caption: "Disputes",
        filters: FILTERS,
        load: (cursor, { status }) => disputePage(api, cursor, status),
        keyOf: ({ dispute_id: id }) => id,
        textOf: (one) => `${reasonLabel(one.reason)} ${one.receipt_id} ${one.claim.reference ?? ""} ${textOf(one)}`,
        columns: COLUMNS,
        empty: "No disputes. Developers can dispute a call for 30 days; you then have 7 days to respond."
      })
    )
  ]
}

const textOf = (one: Dispute): string => one.note ?? one.answer?.text ?? one.claim.text ?? ""

const COLUMNS: ReadonlyArray<Column<Dispute>> = [
  filedColumn,
  reasonColumn,
  costColumn,
  column("Status", (one) => one.status, {
    cell: (one) => [
      providerBadge(one),
      decisionDeadline(one),
      needsResponse(one)
        ? h("div", { key: "respond", class: "small muted" }, "by ", h(TimeText, { at: one.respond_by }))
        : undefined
    ]
  }),
  { name: "Decided by", cell: deciderOf, csv: (one) => deciderOf(one) ?? "" },
  { name: "Details", cell: textOf, isLong: true, csv: textOf }
]

/**
 * One dispute: the developer's claim, the provider's answer and the decision.
 */
import { Fragment } from "preact"
import { DisputeDetail } from "../../console/DisputeDetail.browser.ts"
import { evidenceOf } from "../../console/DisputeEvidence.browser.ts"
import { decisionDeadline, type Dispute, DISPUTES_PATH, reasonLabel } from "../../console/DisputeTerms.browser.ts"
import { Facts } from "../../console/Figures.browser.ts"
import { pathTo } from "../../console/Place.browser.ts"
import { CallLink } from "../../console/PublicNames.browser.ts"
import { TimeText } from "../../console/TimeText.browser.ts"
import { h, type View } from "../../console/View.browser.ts"
import { money, relativeTime } from "../../kit/Format.browser.ts"
import { DisputeAnswer } from "./DisputeAnswer.browser.ts"
import { deciderOf, needsResponse, providerBadge } from "./ProviderDisputeStatuses.browser.ts"

export const ProviderDispute = ({ id }: { readonly id: string }): View =>
  h(DisputeDetail<Dispute>, {
    path: DISPUTES_PATH,
    id,
    show: (one, reload) =>
      h(
        Fragment,
        null,
        h(Facts, { all: factsOf(one) }),
        one.claim.text === null || one.claim.text === ""
          ? undefined
          : h(Fragment, null, h("h2", null, "Claim"), h("blockquote", null, one.claim.text)),
        one.claim.evidence === null
          ? undefined
          : h("details", null, h("summary", null, "Evidence"), evidenceOf(one.claim.evidence)),
        needsResponse(one) ? h(DisputeAnswer, { dispute: one, answered: reload }) : undefined
      )
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

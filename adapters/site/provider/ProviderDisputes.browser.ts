/**
 * Disputes against the provider's calls: those to answer, with what is at stake and until when, and how the others ended.
 */
import type { Answered, Disputes } from "../kit/Answers.browser.ts"
import { ask } from "../kit/Api.browser.ts"
import { confirmed } from "../kit/Confirm.browser.ts"
import { deed, saying } from "../kit/Action.browser.ts"
import { decisionDue } from "../kit/Disputing.browser.ts"
import { badge, button, el, empty, notice } from "../kit/Dom.browser.ts"
import { money, moment, until } from "../kit/Figures.browser.ts"
import { form } from "../kit/Form.browser.ts"
import { type Panel, panel } from "../kit/Panel.browser.ts"
import { pages } from "../kit/Paging.browser.ts"
import { openReceipt } from "../kit/ReceiptDialog.browser.ts"
import { keyOf } from "../kit/Session.browser.ts"
import { table } from "../kit/Table.browser.ts"

type Dispute = Disputes["disputes"][number]

const PATH = "/api/v1/market/disputes"
const TO_ANSWER_MAX = 100
const SHOWN_AT_ONCE = 20

const REASONS = {
  tool_error: "The tool failed",
  overcharge: "It cost too much",
  timeout: "It took too long",
  quality: "The answer was no good",
  other: "Another reason"
} as const

const STATES = {
  filed: ["Waits for you", "info"],
  under_review: ["The operator decides", "info"],
  resolved_refund: ["Refunded", "bad"],
  resolved_denied: ["Denied", "good"],
  resolved_credit: ["Credited by the platform", ""]
} as const

const DECIDERS = {
  evidence: "the receipt",
  provider: "you",
  deadline: "your silence",
  operator: "the operator",
  operator_deadline: "the operator's silence",
  chargeback: "a chargeback of the payment"
} as const

const read = async (query: Readonly<Record<string, string>>): Promise<Disputes> =>
  ask<Disputes>("GET", `${PATH}?${new URLSearchParams(query)}`, { key: keyOf("provider") })

export const disputes = (moved: () => void): Panel => {
  const said = saying()
  return panel("disputes", "Disputes", async (reload) => {
    const answered = async () => {
      await reload()
      moved()
    }
    const [open, list] = await Promise.all([
      read({ status: "filed", limit: String(TO_ANSWER_MAX) }),
      pages(
        async (cursor) => {
          const page = await read({ limit: String(SHOWN_AT_ONCE), ...(cursor === undefined ? {} : { cursor }) })
          return { items: page.disputes, next: page.next_cursor }
        },
        (all) => [all.length === 0 ? none() : disputeTable(all)]
      )
    ])
    const mine = open.disputes.filter((one) => one.filed_by_type === "agent")
    if (mine.length === 0) return [said, list]
    return [
      said,
      el("h3", {}, "To answer"),
      el(
        "div",
        { class: "grid" },
        mine.toReversed().map((one) => toAnswer(one, said, answered))
      ),
      el("h3", {}, "All of them"),
      list
    ]
  })
}

const none = (): HTMLElement =>
  empty("No disputes. A developer may dispute a call for 30 days; you then have seven days to answer, here.")

const toAnswer = (dispute: Dispute, said: HTMLElement, answered: () => Promise<void>): HTMLElement => {
  const { claim, cost_microcents: cost, dispute_id: id } = dispute
  const respond = (body: object, idempotencyKey: string) =>
    ask<Answered>("POST", `${PATH}/${id}/respond`, { key: keyOf("provider"), idempotencyKey, body })
  const accepting = deed(
    `Accept and give ${money(cost)} back`,
    said,
    async (idempotencyKey) => {
      const agreed = await confirmed({
        title: `Give ${money(cost)} back?`,
        text: [
          el(
            "p",
            {},
            "The developer is refunded at once as far as your balance covers it; your next earnings pay the rest. The platform refunds its fee."
          ),
          el("p", {}, "It cannot be undone, and counts as a dispute that you lost.")
        ],
        yes: "Give it back",
        isDangerous: true
      })
      if (!agreed) return undefined
      const { outstanding_microcents: owed, refunded_microcents: refunded } = await respond(
        { action: "accept" },
        idempotencyKey
      )
      await answered()
      const rest = owed > 0 ? ` You owe ${money(owed)}; your next earnings pay it.` : ""
      return `Accepted: ${money(refunded)} went back to the developer.${rest}`
    },
    "danger"
  )
  const contesting = form({
    id: `contest-${id.slice(0, 8)}`,
    submit: "Contest it",
    fields: [
      {
        name: "message",
        label: "Why it was worth its price",
        type: "textarea",
        hint: "The developer and the operator read it. The operator has 30 days to decide; after that the money goes back."
      }
    ],
    send: async ({ message }, idempotencyKey) => {
      await respond({ action: "contest", message }, idempotencyKey)
      said.replaceChildren(notice("good", "Contested. The operator decides within 30 days, and you see here how."))
      await answered()
      return undefined
    }
  })
  return el(
    "article",
    { class: "card" },
    el("p", {}, el("strong", {}, REASONS[dispute.reason]), " · ", money(cost)),
    claim.text === null || claim.text === "" ? undefined : el("blockquote", {}, claim.text),
    claim.evidence === null
      ? undefined
      : el("details", {}, el("summary", {}, "Evidence"), el("pre", {}, JSON.stringify(claim.evidence, null, 2))),
    el(
      "dl",
      { class: "facts" },
      el("dt", {}, "Answer until"),
      el("dd", {}, moment(dispute.respond_by), ` (${until(dispute.respond_by)}); your silence gives the money back`),
      el("dt", {}, "Filed"),
      el("dd", {}, moment(dispute.created_at)),
      el("dt", {}, "Receipt"),
      el("dd", {}, receiptOf(dispute))
    ),
    el("div", { class: "actions" }, accepting),
    el("details", {}, el("summary", {}, "Contest it"), contesting)
  )
}

const receiptOf = ({ receipt_id: id }: Dispute): HTMLElement => button("Receipt", () => openReceipt(id), "plain tiny")

const stateOf = ({ filed_by_type: by, status }: Dispute): HTMLElement =>
  status === "filed" && by === "provider"
    ? badge("Being refunded", "info")
    : badge(STATES[status][0], STATES[status][1])

const disputeTable = (all: ReadonlyArray<Dispute>): HTMLElement =>
  table(
    "Disputes",
    [
      { name: "Filed", cell: (one: Dispute) => moment(one.created_at) },
      { name: "About", cell: (one) => REASONS[one.reason] },
      { name: "Price", cell: (one) => money(one.cost_microcents), isNumber: true },
      { name: "State", cell: (one) => [stateOf(one), decisionDue(one)] },
      { name: "Decided by", cell: (one) => (one.decided_by === null ? "–" : DECIDERS[one.decided_by]) },
      { name: "Said", cell: (one) => one.note ?? one.answer?.text ?? one.claim.text ?? "–", isLong: true },
      { name: "", cell: receiptOf }
    ],
    all
  )

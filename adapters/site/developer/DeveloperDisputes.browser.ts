/**
 * A developer's disputes: filing one, and how the others stand.
 */
import type { Disputes, UsagePage } from "./Answers.browser.ts"
import { ask } from "./Api.browser.ts"
import { openDialog } from "./Dialog.browser.ts"
import { badge, el, empty } from "./Dom.browser.ts"
import { moment, money } from "./Figures.browser.ts"
import { form } from "./Form.browser.ts"
import { type PageOf, pages } from "./Paging.browser.ts"
import { type Panel, panel } from "./Panel.browser.ts"
import { keyOf } from "./Session.browser.ts"
import { table } from "./Table.browser.ts"

type Dispute = Disputes["disputes"][number]

const PATH = "/api/v1/market/disputes"
const SHOWN_AT_ONCE = 20
const READ_AT_ONCE = 100

const REASONS = [
  ["quality", "The answer was not good enough"],
  ["tool_error", "The tool failed"],
  ["timeout", "No answer came"],
  ["overcharge", "It cost too much"],
  ["other", "Something else"]
] as const

/** How a dispute stands, in words and colour. */
export const disputeBadge = (status: string): HTMLElement => {
  const [words, kind] = STANDINGS[status] ?? [status, ""]
  return badge(words, kind)
}

const STANDINGS: Readonly<Record<string, readonly [words: string, kind: string]>> = {
  filed: ["Waits for the provider", "info"],
  under_review: ["The operator decides", "info"],
  resolved_refund: ["Refunded", "good"],
  resolved_credit: ["Credited", "good"],
  resolved_denied: ["Denied", "bad"]
}

const read = async (limit: number, cursor: string | undefined): Promise<PageOf<Dispute>> => {
  const query = new URLSearchParams({ limit: String(limit), ...(cursor === undefined ? {} : { cursor }) })
  const page = await ask<Disputes>("GET", `${PATH}?${query}`, { key: keyOf("consumer") })
  return { items: page.disputes, next: page.next_cursor }
}

/** Of all disputes that were filed since then: the list begins with the newest. */
export const disputedReceipts = async (sinceMs: number): Promise<ReadonlySet<string>> => {
  const found = new Set<string>()
  let cursor: string | undefined
  do {
    const { items, next } = await read(READ_AT_ONCE, cursor)
    for (const { receipt_id: id } of items) found.add(id)
    const last = items.at(-1)
    cursor = last !== undefined && Date.parse(last.created_at) >= sinceMs ? (next ?? undefined) : undefined
  } while (cursor !== undefined)
  return found
}

/** Until when a contested one is decided; then silence decides. */
export const decisionDue = ({ decide_by: due, status }: Dispute): HTMLElement | undefined =>
  status === "under_review" && due !== null ? el("div", { class: "small muted" }, "by ", moment(due)) : undefined

export const disputes = (): Panel =>
  panel("disputes", "Disputes", async () => [
    await pages(
      (cursor) => read(SHOWN_AT_ONCE, cursor),
      (all) => [
        all.length === 0
          ? empty("No disputes. A call that was not worth its price can be disputed for 30 days, from the list above.")
          : disputeTable(all)
      ]
    )
  ])

/** What the provider still owes of a refund. */
const outstanding = ({ outstanding_microcents: owed }: Dispute): Node | undefined =>
  owed > 0 ? el("div", { class: "muted" }, `${money(owed)} outstanding`) : undefined

const disputeTable = (all: ReadonlyArray<Dispute>): HTMLElement =>
  table(
    "Disputes",
    [
      { name: "Filed", cell: (one: Dispute) => moment(one.created_at) },
      { name: "Reason", cell: ({ reason }) => REASONS.find(([value]) => value === reason)?.[1] ?? reason },
      { name: "Paid", cell: (one) => money(one.cost_microcents), isNumber: true },
      { name: "State", cell: (one) => [disputeBadge(one.status), decisionDue(one)] },
      { name: "Refunded", cell: (one) => [money(one.refunded_microcents), outstanding(one)], isNumber: true },
      {
        name: "What was said",
        isLong: true,
        cell: (one) =>
          el(
            "span",
            {},
            one.answer?.text ?? one.note ?? (one.status === "filed" ? "Answer due " : ""),
            one.status === "filed" ? moment(one.respond_by) : undefined
          )
      }
    ],
    all
  )

/** Asks what was wrong with a call, and files it. */
export const fileDispute = (call: UsagePage["records"][number], filed: () => void): void => {
  const dialog = openDialog(
    "Dispute a call",
    el("p", {}, `${call.tool_name}, ${money(call.cost_microcents)}, `, moment(call.created_at), "."),
    el("p", { class: "muted" }, "The provider has seven days to answer. If it is silent, your money comes back."),
    form({
      id: "dispute",
      submit: "File the dispute",
      fields: [
        { name: "reason", label: "What was wrong", type: "select", choices: REASONS, value: "quality" },
        { name: "description", label: "In your words", type: "textarea", optional: true }
      ],
      send: async ({ description, reason }, idempotencyKey) => {
        const body = { receipt_id: call.receipt_id, reason, ...(description === "" ? {} : { description }) }
        await ask("POST", PATH, { key: keyOf("consumer"), idempotencyKey, body })
        dialog.close()
        filed()
        return undefined
      }
    })
  )
}

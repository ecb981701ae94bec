/**
 * Calls, newest first, each with its receipt: to look at, to verify, to dispute.
 */
import type { UsagePage } from "./Answers.browser.ts"
import { ask } from "./Api.browser.ts"
import { disputedReceipts } from "./Disputing.browser.ts"
import { badge, button, el, empty } from "./Dom.browser.ts"
import { milliseconds, moment, money } from "./Figures.browser.ts"
import { type Panel, panel } from "./Panel.browser.ts"
import { pages } from "./Paging.browser.ts"
import { openReceipt } from "./ReceiptDialog.browser.ts"
import { keyOf } from "./Session.browser.ts"
import { table } from "./Table.browser.ts"

type Call = UsagePage["records"][number]

const OUTCOMES = {
  success: ["Success", "good"],
  error: ["Error", "bad"],
  timeout: ["Too slow", "bad"],
  rate_limited: ["Provider refused", "bad"]
} as const

const CALLS_AT_ONCE = 10
const DAYS_SHOWN = 90
const DAY_MS = 86_400_000

/** `dispute`: what to do about a call that was not worth its price; called back once that is done. */
export const calls = (dispute: (call: Call, filed: () => void) => void): Panel =>
  panel("calls", "Calls", async () => {
    const disputed = await disputedReceipts(Date.now() - DAYS_SHOWN * DAY_MS)
    const found = await pages(
      async (cursor) => {
        const query = new URLSearchParams({
          period: `${DAYS_SHOWN}d`,
          limit: String(CALLS_AT_ONCE),
          ...(cursor === undefined ? {} : { cursor })
        })
        const page = await ask<UsagePage>("GET", `/api/v1/market/usage?${query}`, { key: keyOf("consumer") })
        return { items: page.records, next: page.next_cursor }
      },
      (all) => [all.length === 0 ? empty("No calls in the last 90 days.") : callTable(all, disputed, dispute)]
    )
    return [found]
  })

const callTable = (
  rows: ReadonlyArray<Call>,
  disputed: ReadonlySet<string>,
  dispute: (call: Call, filed: () => void) => void
): HTMLElement =>
  table(
    "Calls",
    [
      { name: "When", cell: (call) => moment(call.created_at) },
      { name: "Tool", cell: (call) => el("a", { href: `/catalog/${call.tool_id}` }, call.tool_name) },
      { name: "Outcome", cell: ({ status }) => badge(OUTCOMES[status][0], OUTCOMES[status][1]) },
      { name: "Cost", cell: (call) => money(call.cost_microcents), isNumber: true },
      { name: "Took", cell: (call) => milliseconds(call.duration_ms), isNumber: true },
      {
        name: "",
        cell: (call) =>
          el(
            "span",
            { class: "nowrap" },
            button("Receipt", () => openReceipt(call.receipt_id), "plain tiny"),
            " ",
            call.cost_microcents === 0 ? undefined : disputing(call, disputed, dispute)
          )
      }
    ],
    rows
  )

const disputing = (
  call: Call,
  disputed: ReadonlySet<string>,
  dispute: (call: Call, filed: () => void) => void
): HTMLElement => {
  const mark = (): HTMLElement => badge("Disputed", "info")
  if (disputed.has(call.receipt_id)) return mark()
  const asking = button("Dispute", () => dispute(call, () => asking.replaceWith(mark())), "plain tiny")
  return asking
}

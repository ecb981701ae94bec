/**
 * Calls, newest first, each with its receipt: to look at, to verify, to dispute.
 */
import type { OneReceipt, UsagePage } from "./Answers.ts"
import { ask, askText, words } from "./Api.ts"
import { deed, saying } from "./Deed.ts"
import { openDialog } from "./Dialog.ts"
import { badge, button, el, empty, fill, notice } from "./Dom.ts"
import { milliseconds, moment, money } from "./Figures.ts"
import { type Panel, panel } from "./Panel.ts"
import { save } from "./Save.ts"
import { pages } from "./Pages.ts"
import { keyOf, type Role } from "./Session.ts"
import { table } from "./Table.ts"

type Call = UsagePage["records"][number]

export const STATUS_KIND: Readonly<Record<string, string>> = {
  success: "good",
  error: "bad",
  timeout: "bad",
  rate_limited: "info"
}

const CALLS_AT_ONCE = 10

/** `dispute`: what to do about a call that was not worth its price; nothing where nobody may. */
export const calls = (role: Role, dispute?: (call: Call) => void): Panel =>
  panel("calls", "Calls", async () => {
    const found = await pages(
      async (cursor) => {
        const query = new URLSearchParams({
          period: "90d",
          limit: String(CALLS_AT_ONCE),
          ...(cursor === undefined ? {} : { cursor })
        })
        const page = await ask<UsagePage>("GET", `/api/v1/market/usage?${query}`, { key: keyOf(role) })
        return { items: page.records, next: page.next_cursor }
      },
      (all) => [all.length === 0 ? empty("No calls in the last 90 days.") : callTable(all, dispute)]
    )
    return [found]
  })

const callTable = (rows: ReadonlyArray<Call>, dispute: ((call: Call) => void) | undefined): HTMLElement =>
  table(
    "Calls",
    [
      { name: "When", cell: (call) => moment(call.created_at) },
      { name: "Tool", cell: (call) => el("a", { href: `/catalog/${call.tool_id}` }, call.tool_name) },
      { name: "Outcome", cell: ({ status }) => badge(status.replace("_", " "), STATUS_KIND[status]) },
      { name: "Cost", cell: (call) => money(call.cost_microcents), isNumber: true },
      { name: "Took", cell: (call) => milliseconds(call.duration_ms), isNumber: true },
      {
        name: "",
        cell: (call) =>
          el(
            "span",
            { class: "nowrap" },
            button("Receipt", () => receipt(call.receipt_id), "plain tiny"),
            " ",
            dispute === undefined || call.cost_microcents === 0
              ? undefined
              : button("Dispute", () => dispute(call), "plain tiny")
          )
      }
    ],
    rows
  )

/** The receipt as the service keeps it, verified there; the proof is for verifying it without the service. */
const receipt = (id: string): void => {
  const place = el("div", { "aria-live": "polite" }, "Loading…")
  openDialog("Receipt", place)
  void showReceipt(id, place)
}

const showReceipt = async (id: string, place: HTMLElement): Promise<void> => {
  const path = `/api/v1/market/receipts/${id}`
  try {
    const { receipt: shown, verification } = await ask<OneReceipt>("GET", path)
    const said = saying()
    fill(
      place,
      verification.valid
        ? notice("good", "Valid: the signature is this service's own.")
        : notice("bad", "Not valid: the signature does not fit."),
      el(
        "dl",
        { class: "facts" },
        Object.entries(shown).map(([name, value]) => [el("dt", {}, name), el("dd", { class: "number" }, String(value))])
      ),
      said,
      el(
        "div",
        { class: "actions" },
        button("Download the receipt", () => save(`${id}.json`, `${JSON.stringify(shown, null, 2)}\n`), "plain"),
        deed(
          "Download the proof",
          said,
          async () => {
            save(`${id}.tlog-proof`, await askText(`${path}/proof`))
            return undefined
          },
          "plain"
        ),
        el("a", { href: "/verify" }, "Verify it without trusting us")
      )
    )
  } catch (error) {
    fill(place, notice("bad", words(error)))
  }
}

/**
 * The developer's calls, newest first, each with its receipt and a button to dispute it.
 */
import { accountApi } from "../kit/AccountApi.browser.ts"
import { type Call, callColumns, USAGE_PATH } from "../kit/Calls.browser.ts"
import { badge, button, el } from "../kit/Dom.browser.ts"
import { pagedList } from "../kit/PagedList.browser.ts"
import { type Panel, panel } from "../kit/Panel.browser.ts"
import { receiptButton } from "../kit/ReceiptDialog.browser.ts"
import type { UsagePage } from "../kit/ApiResponses.browser.ts"
import { table } from "../kit/Table.browser.ts"
import { disputedReceipts, openDisputeDialog } from "./DeveloperDisputes.browser.ts"

const PAGE_SIZE = 10
const DAYS_SHOWN = 90
const DAY_MS = 86_400_000

export const callsPanel = (disputeFiled: () => void): Panel =>
  panel("calls", "Calls", async () => {
    const disputed = await disputedReceipts(Date.now() - DAYS_SHOWN * DAY_MS)
    const disputeCell = (call: Call): HTMLElement | undefined => {
      if (call.cost_microcents === 0) return undefined
      if (disputed.has(call.receipt_id)) return badge("Disputed", "info")
      const open = button(
        "Dispute",
        () =>
          openDisputeDialog(call, () => {
            open.replaceWith(badge("Disputed", "info"))
            disputeFiled()
          }),
        "plain tiny"
      )
      return open
    }
    const list = await pagedList(
      (cursor) =>
        accountApi("consumer").get<UsagePage>(USAGE_PATH, { period: `${DAYS_SHOWN}d`, limit: PAGE_SIZE, cursor }),
      (page) => page.records,
      (all) =>
        table(
          "Calls",
          [
            ...callColumns((call) => el("a", { href: `/catalog/${call.tool_id}` }, call.tool_name)),
            {
              name: "",
              cell: (call) => el("span", { class: "nowrap" }, receiptButton(call.receipt_id), " ", disputeCell(call))
            }
          ],
          all,
          `No calls in the last ${DAYS_SHOWN} days.`
        )
    )
    return [list]
  })

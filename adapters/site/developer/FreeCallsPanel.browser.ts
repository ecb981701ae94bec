/**
 * Free calls used and remaining this month.
 */
import { accountApi } from "../kit/AccountApi.browser.ts"
import { el, empty } from "../kit/Dom.browser.ts"
import { count, dateTime } from "../kit/Format.browser.ts"
import { type Panel, panel } from "../kit/Panel.browser.ts"
import type { FreeTiers } from "../kit/ApiResponses.browser.ts"
import { table } from "../kit/Table.browser.ts"

export const freeCallsPanel = (): Panel =>
  panel("free-calls", "Free calls", async () => {
    const { free_tiers: tiers, resets_at: resets } =
      await accountApi("consumer").get<FreeTiers>("/api/v1/market/free-tiers")
    if (tiers.length === 0) return [empty("No free calls used this month. Free calls are used before paid ones.")]
    return [
      table(
        "Free calls this month",
        [
          { name: "Tool", cell: (tier) => el("a", { href: `/catalog/${tier.tool_id}` }, tier.tool_name) },
          { name: "Provider", cell: ({ provider }) => provider },
          { name: "Used", cell: ({ used }) => count(used), isNumber: true },
          { name: "Remaining", cell: ({ left }) => count(left), isNumber: true }
        ],
        tiers
      ),
      el("p", { class: "muted small" }, "Resets ", dateTime(resets), ".")
    ]
  })

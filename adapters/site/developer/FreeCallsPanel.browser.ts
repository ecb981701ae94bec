/**
 * Free calls that are left this month.
 */
import type { FreeTiers } from "../kit/Answers.browser.ts"
import { ask } from "../kit/Api.browser.ts"
import { el, empty } from "../kit/Dom.browser.ts"
import { count, moment } from "../kit/Figures.browser.ts"
import { type Panel, panel } from "../kit/Panel.browser.ts"
import { keyOf } from "../kit/Session.browser.ts"
import { table } from "../kit/Table.browser.ts"

export const freeCalls = (): Panel =>
  panel("free-calls", "Free calls", async () => {
    const { free_tiers: tiers, resets_at: resets } = await ask<FreeTiers>("GET", "/api/v1/market/free-tiers", {
      key: keyOf("consumer")
    })
    if (tiers.length === 0) {
      return [
        empty("No free calls used this month. Tools that have them say so in the catalogue; they are used first.")
      ]
    }
    return [
      table(
        "Free calls this month",
        [
          { name: "Tool", cell: (tier) => el("a", { href: `/catalog/${tier.tool_id}` }, tier.tool_name) },
          { name: "Provider", cell: ({ provider }) => provider },
          { name: "Used", cell: ({ used }) => count(used), isNumber: true },
          { name: "Left", cell: ({ left }) => count(left), isNumber: true }
        ],
        tiers
      ),
      el("p", { class: "muted small" }, "All of them are there again ", moment(resets), ".")
    ]
  })

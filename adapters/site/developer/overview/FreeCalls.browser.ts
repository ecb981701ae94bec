/**
 * Free calls used and remaining this month.
 */
import { Fragment } from "preact"
import { Empty } from "../../console/Badge.browser.ts"
import { DataTable } from "../../console/DataTable.browser.ts"
import { TimeText } from "../../console/TimeText.browser.ts"
import type { FreeTiers } from "../../kit/ApiResponses.browser.ts"
import { count } from "../../kit/Format.browser.ts"
import { h, type View } from "../../console/View.browser.ts"

export const FreeCalls = ({ free_tiers: all, resets_at: resets }: FreeTiers): View =>
  h(
    "section",
    { id: "free-calls" },
    h("h2", null, "Free calls"),
    all.length === 0
      ? h(Empty, null, "No free calls used this month. Free calls are used before paid ones.")
      : h(
          Fragment,
          null,
          h(DataTable<FreeTiers["free_tiers"][number]>, {
            caption: "Free calls this month",
            columns: [
              { name: "Tool", cell: (tier) => h("a", { href: `/catalog/${tier.tool_id}` }, tier.tool_name) },
              { name: "Provider", cell: ({ provider }) => provider },
              { name: "Used", cell: ({ used }) => count(used), isNumber: true },
              { name: "Remaining", cell: ({ left }) => count(left), isNumber: true }
            ],
            rows: all,
            keyOf: ({ tool_id }) => tool_id
          }),
          h("p", { class: "muted small" }, "Resets ", h(TimeText, { at: resets }), ".")
        )
  )

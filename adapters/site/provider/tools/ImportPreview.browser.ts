/**
 * What an import would change: which tools would be listed, at which price, and what would change.
 */
import { type ComponentChildren } from "preact"
import { Notice } from "../../console/Badge.browser.ts"
import { type Column, DataTable } from "../../console/DataTable.browser.ts"
import { TimeText } from "../../console/TimeText.browser.ts"
import { h, type View } from "../../console/View.browser.ts"
import type { ImportReport } from "../../kit/ApiResponses.browser.ts"
import { money } from "../../kit/Format.browser.ts"

type PlannedTool = ImportReport["tools"][number]

const ACTIONS: Readonly<Record<PlannedTool["action"], string>> = {
  list: "List",
  draft: "Store as draft",
  change: "Change",
  restore: "List again"
}

export const ImportPreview = ({ report }: { readonly report: ImportReport }): View =>
  h(
    "div",
    { id: "import-preview" },
    h(Notice, { style: report.rejected.length > 0 ? "" : "good" }, report.message),
    report.tools.length === 0
      ? undefined
      : h(DataTable<PlannedTool>, {
          caption: "What the import changes",
          columns: COLUMNS,
          rows: report.tools,
          keyOf: ({ tool_name: name }) => name
        }),
    lines(
      "Missing on the server",
      report.missing.map(({ tool_name: name, withdrawn_from: at }) => [
        `${name}: withdrawn from `,
        h(TimeText, { key: "at", at })
      ])
    ),
    lines("Withdrawn", report.withdrawn),
    lines("Removed drafts", report.removed_drafts),
    lines("Dismissed", report.dismissed),
    lines(
      "Changes that only an import by you applies",
      report.held.map(({ reason, tool_name: name }) => `${name}: ${reason}`)
    ),
    lines(
      "Not imported",
      report.rejected.map(({ error, tool_name: name }) => `${name}: ${error}`)
    )
  )

const COLUMNS: ReadonlyArray<Column<PlannedTool>> = [
  {
    name: "Tool",
    cell: ({ display_name: display, tool_name: name }) => [
      h("code", { key: "name" }, name),
      display === name ? undefined : h("div", { key: "display", class: "small muted" }, display)
    ]
  },
  { name: "Action", cell: ({ action }) => ACTIONS[action] },
  {
    name: "Price",
    cell: ({ price_microcents: price }) => (price === null ? "Unchanged" : money(price)),
    isNumber: true
  },
  { name: "Changes", cell: ({ changed }) => (changed.length === 0 ? "–" : changed.join(", ")) }
]

const lines = (title: string, all: ReadonlyArray<ComponentChildren>): View | undefined =>
  all.length === 0
    ? undefined
    : h(
        "details",
        null,
        h("summary", null, `${title} (${all.length})`),
        h(
          "ul",
          null,
          all.map((line, index) => h("li", { key: index }, line))
        )
      )

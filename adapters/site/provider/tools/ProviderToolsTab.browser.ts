/**
 * The provider's tools; one tool, a new one, and the import are pages of their own.
 */
import { Fragment } from "preact"
import { useState } from "preact/hooks"
import { announce } from "../../console/Announcements.browser.ts"
import { type TabProps, useConsole } from "../../console/ConsoleContext.browser.ts"
import type { Column } from "../../console/DataTable.browser.ts"
import { type ListFilter, ListView } from "../../console/ListView.browser.ts"
import { go, pathTo } from "../../console/Place.browser.ts"
import { type Badges, statusBadge } from "../../console/Values.browser.ts"
import { h, type View } from "../../console/View.browser.ts"
import type { OwnTools } from "../../kit/ApiResponses.browser.ts"
import { count, day, milliseconds, money } from "../../kit/Format.browser.ts"
import { ImportTools } from "./ImportTools.browser.ts"
import { nameOf, type OwnTool, ToolActions, TOOLS_PATH } from "./ToolActions.browser.ts"
import { ToolDetail } from "./ToolDetail.browser.ts"
import { ToolForm } from "./ToolForm.browser.ts"

// Lists a tool by hand.

export const NewTool = (): View =>
  h(
    Fragment,
    null,
    h("h2", null, "List a tool"),
    h(
      "p",
      { class: "muted" },
      "Your MCP server must list the tool under the same name. Empty fields use the defaults."
    ),
    h(ToolForm, {
      id: "new-tool",
      tool: undefined,
      saved: async ({ tool_name: name }) => {
        go(pathTo("tools"))
        announce("good", `${name} is listed.`)
      }
    })
  )

// The provider's tools: listed, drafts and withdrawn.

const PAGE_SIZE = 50

const STATES: Badges<OwnTool["state"]> = {
  listed: ["Listed", "good"],
  draft: ["Draft", "info"],
  withdrawn: ["Withdrawn", ""]
}

const FILTERS: ReadonlyArray<ListFilter> = [
  {
    name: "state",
    label: "State",
    choices: [
      ["", "All"],
      ["listed", "Listed"],
      ["draft", "Drafts"],
      ["withdrawn", "Withdrawn"]
    ]
  }
]

export const ToolList = (): View => {
  const { api } = useConsole()
  const [version, setVersion] = useState(0)
  const changed = async () => setVersion((before) => before + 1)
  return h(
    Fragment,
    null,
    h(
      "div",
      { class: "actions" },
      h("a", { class: "button", href: pathTo("tools", "new") }, "List tool"),
      h("a", { class: "button plain", href: pathTo("tools", "import") }, "Import tools")
    ),
    h(
      "section",
      { id: "tools" },
      h(ListView<OwnTool>, {
        id: "tools",
        caption: "Tools",
        filters: FILTERS,
        version,
        load: async (cursor, { state }) => {
          const page = await api.get<OwnTools>(TOOLS_PATH, { limit: PAGE_SIZE, cursor, state })
          return { rows: page.tools, next: page.next_cursor }
        },
        keyOf: ({ id }) => id,
        textOf: (tool) => `${tool.tool_name} ${tool.display_name} ${tool.category} ${tool.description}`,
        columns: columnsOf(changed),
        empty: [
          "No tools yet. ",
          h("a", { key: "import", href: pathTo("tools", "import") }, "Import the tools of your MCP server"),
          ", or ",
          h("a", { key: "new", href: pathTo("tools", "new") }, "list one by hand"),
          "."
        ]
      })
    )
  )
}

const columnsOf = (changed: () => Promise<void>): ReadonlyArray<Column<OwnTool>> => [
  {
    name: "Tool",
    isLong: true,
    cell: (tool) => [
      tool.state === "draft" ? nameOf(tool) : h("a", { key: "name", href: pathTo("tools", tool.id) }, nameOf(tool)),
      nameOf(tool) === tool.tool_name
        ? undefined
        : h("div", { key: "id", class: "small muted" }, h("code", null, tool.tool_name))
    ],
    sortBy: nameOf,
    csv: (tool) => tool.tool_name
  },
  {
    name: "State",
    cell: ({ state }) => statusBadge(STATES, state),
    sortBy: ({ state }) => state,
    csv: ({ state }) => state
  },
  {
    name: "Category",
    cell: ({ category }) => category,
    sortBy: ({ category }) => category,
    csv: (one) => one.category
  },
  {
    name: "Price",
    cell: ({ pricing: { price, upcoming } }) => [
      price,
      upcoming === null
        ? undefined
        : h("div", { key: "next", class: "small muted" }, `${upcoming.price} from ${day(upcoming.effective_from)}`)
    ],
    isNumber: true,
    sortBy: ({ pricing }) => pricing.price_microcents,
    csv: ({ pricing }) => money(pricing.price_microcents)
  },
  {
    name: "Free per month",
    cell: ({ pricing }) => count(pricing.free_tier_calls),
    isNumber: true,
    csv: ({ pricing }) => pricing.free_tier_calls
  },
  {
    name: "Calls",
    cell: ({ stats }) => count(stats.total_calls),
    isNumber: true,
    sortBy: ({ stats }) => stats.total_calls,
    csv: ({ stats }) => stats.total_calls
  },
  {
    name: "p95 latency",
    cell: ({ stats }) => milliseconds(stats.p95_latency_ms),
    isNumber: true,
    sortBy: ({ stats }) => stats.p95_latency_ms ?? -1,
    csv: ({ stats }) => stats.p95_latency_ms ?? ""
  },
  { name: "", cell: (tool) => h(ToolActions, { tool, changed }) }
]

export const tab = ({ detail }: TabProps): View =>
  detail === undefined
    ? h(ToolList, null)
    : h(Fragment, null, h("a", { href: pathTo("tools"), class: "back" }, "← All tools"), pageOf(detail))

/** IDs of tools are UUIDs. */
const pageOf = (detail: string): View => {
  switch (detail) {
    case "new":
      return h(NewTool, null)
    case "import":
      return h(ImportTools, null)
    default:
      return h(ToolDetail, { key: detail, id: detail })
  }
}

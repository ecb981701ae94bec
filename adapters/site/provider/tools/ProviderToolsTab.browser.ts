/**
 * The provider's tools; one tool, a new one, and the import are pages of their own.
 */
import type { ComponentChildren } from "preact"
import { useState } from "preact/hooks"
import { announce } from "../../console/Announcements.browser.ts"
import { type TabProps, useConsole } from "../../console/ConsoleContext.browser.ts"
import { type Column, column, DataTable, moneyColumn, statusColumn } from "../../console/DataTable.browser.ts"
import { ListView } from "../../console/ListView.browser.ts"
import { go, pathTo } from "../../console/Place.browser.ts"
import { loaded, useResource } from "../../console/Resource.browser.ts"
import { type Badges, CopyValue, facts, h, section, TimeText, type View } from "../../console/View.browser.ts"
import type { OwnTools, ToolDetails } from "../../kit/ApiResponses.browser.ts"
import { count, day, milliseconds, plural } from "../../kit/Format.browser.ts"
import { ImportTools } from "./ImportTools.browser.ts"
import { nameOf, type OwnTool, readTool, ToolActions, ToolForm, TOOLS_PATH } from "./ToolForm.browser.ts"

// Lists a tool by hand.

const NewTool = (): ComponentChildren => [
  h("h2", null, "List a tool"),
  h("p", { class: "muted" }, "Your MCP server must list the tool under the same name. Empty fields use the defaults."),
  h(ToolForm, {
    id: "new-tool",
    tool: undefined,
    saved: async ({ tool_name: name }) => {
      go(pathTo("tools"))
      announce("good", `${name} is listed.`)
    }
  })
]

// The provider's tools: listed, drafts and withdrawn.

const PAGE_SIZE = 50

const STATES: Badges<OwnTool["state"]> = {
  listed: ["Listed", "good"],
  draft: ["Draft", "info"],
  withdrawn: ["Withdrawn", ""]
}

const CHOICES = [
  ["", "All"],
  ["listed", "Listed"],
  ["draft", "Drafts"],
  ["withdrawn", "Withdrawn"]
] as const

const ToolList = (): ComponentChildren => {
  const { api } = useConsole()
  const [version, setVersion] = useState(0)
  const changed = async () => setVersion((before) => before + 1)
  return [
    h(
      "div",
      { class: "actions" },
      h("a", { class: "button", href: pathTo("tools", "new") }, "List tool"),
      h("a", { class: "button plain", href: pathTo("tools", "import") }, "Import tools")
    ),
    section(
      "tools",
      h(ListView<OwnTool>, {
        id: "tools",
        caption: "Tools",
        filters: [{ name: "state", label: "State", choices: CHOICES }],
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
  ]
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
  statusColumn("State", STATES, ({ state }) => state),
  column("Category", ({ category }) => category),
  {
    ...moneyColumn("Price", ({ pricing }) => pricing.price_microcents),
    cell: ({ pricing: { price, upcoming } }) => [
      price,
      upcoming === null
        ? undefined
        : h("div", { key: "next", class: "small muted" }, `${upcoming.price} from ${day(upcoming.effective_from)}`)
    ]
  },
  {
    name: "Free per month",
    cell: ({ pricing }) => count(pricing.free_tier_calls),
    isNumber: true,
    csv: ({ pricing }) => pricing.free_tier_calls
  },
  column("Calls", ({ stats }) => stats.total_calls, {
    cell: ({ stats }) => count(stats.total_calls),
    isNumber: true
  }),
  column("p95 latency", ({ stats }) => stats.p95_latency_ms, {
    cell: ({ stats }) => milliseconds(stats.p95_latency_ms),
    isNumber: true,
    sortBy: ({ stats }) => stats.p95_latency_ms ?? -1
  }),
  { name: "", cell: (tool) => h(ToolActions, { tool, changed }) }
]

export const tab = ({ detail }: TabProps): ComponentChildren =>
  detail === undefined
    ? h(ToolList, null)
    : [h("a", { href: pathTo("tools"), class: "back" }, "← All tools"), pageOf(detail)]

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

// One tool: its price and state, the form that edits it, and the versions of its price and definition.

type PriceVersion = ToolDetails["price_history"][number]
type Version = ToolDetails["version_history"][number]

const ToolDetail = ({ id }: { readonly id: string }): View => {
  const details = useResource(() => readTool(id), [id])
  return loaded(details, (tool) => [
    h(
      "div",
      { class: "toolbar" },
      h("h2", null, nameOf(tool)),
      h(ToolActions, { tool, changed: async () => go(pathTo("tools")) })
    ),
    facts(factsOf(tool)),
    (tool.unchecked ?? []).map((reason) => h("p", { class: "muted", key: reason }, `Not checked: ${reason}.`)),
    tool.state === "withdrawn"
      ? h("p", null, "This tool is withdrawn. List it again to change it.")
      : section(
          "edit",
          h("h2", null, "Edit"),
          h(ToolForm, {
            id: "edit-tool",
            tool: tool.declaration,
            saved: async ({ tool_name: name }) => {
              const after = await readTool(id)
              go(pathTo("tools"))
              announce("good", savedMessage(name, tool, after))
            }
          })
        ),
    h("h2", null, "Prices"),
    h(DataTable<PriceVersion>, {
      caption: "Price history",
      columns: PRICE_COLUMNS,
      rows: tool.price_history,
      keyOf: ({ version }) => String(version)
    }),
    h("h2", null, "Versions"),
    tool.version_history.length === 0
      ? h("p", { class: "muted" }, "Names, description and schemas have not changed.")
      : h(DataTable<Version>, {
          caption: "Versions of the definition",
          columns: VERSION_COLUMNS,
          rows: tool.version_history,
          keyOf: ({ version }) => String(version)
        })
  ])
}

const factsOf = ({ id, pricing, qualified_name: name, state, stats, withdrawn_at: withdrawn }: ToolDetails) =>
  [
    ["Name", h(CopyValue, { name: "name", text: name })],
    ["ID", h(CopyValue, { name: "tool ID", text: id })],
    ["Price", priceText(pricing)],
    [
      "Next price",
      pricing.upcoming === null
        ? undefined
        : `${priceText(pricing.upcoming)} from ${day(pricing.upcoming.effective_from)}`
    ],
    ["Calls", `${count(stats.total_calls)}, p95 latency ${milliseconds(stats.p95_latency_ms)}`],
    ["Catalog", state === "listed" ? h("a", { href: `/catalog/${id}` }, "Open the tool's page") : undefined],
    ["Withdrawn", withdrawn === null ? undefined : h(TimeText, { at: withdrawn })]
  ] as const

interface Terms {
  readonly price: string
  readonly free_tier_calls: number
}

const priceText = ({ free_tier_calls: free, price }: Terms): string =>
  `${price} per call with ${plural(free, "free call")} per month`

const savedMessage = (name: string, before: ToolDetails, after: ToolDetails): string => {
  const [then, now] = [before.price_history[0], after.price_history[0]]
  if (then === undefined || now === undefined) return `${name} is saved.`
  const { upcoming } = after.pricing
  if (upcoming !== null && upcoming.price_version !== before.pricing.upcoming?.price_version) {
    const schema = upcoming.output_schema_changes ? ", billed by the new output schema," : ""
    return `${name} is saved. ${priceText(upcoming)}${schema} from ${day(upcoming.effective_from)}; until then ${priceText(now)}.`
  }
  return then.version === now.version
    ? `${name} is saved. The price is unchanged.`
    : `${name} is saved. Price version ${now.version}: ${priceText(now)}.`
}

const PRICE_COLUMNS: ReadonlyArray<Column<PriceVersion>> = [
  { name: "Version", cell: ({ version }) => version },
  { name: "Effective from", cell: (price) => day(price.effective_from) },
  { name: "Price", cell: ({ price }) => price, isNumber: true },
  { name: "Free per month", cell: (price) => count(price.free_tier_calls), isNumber: true }
]

const VERSION_COLUMNS: ReadonlyArray<Column<Version>> = [
  { name: "Version", cell: ({ version }) => version },
  { name: "Time", cell: ({ changed_at: at }) => h(TimeText, { at }) },
  { name: "By", cell: ({ source }) => (source === "provider" ? "You" : "Your MCP server") },
  { name: "Changes", cell: ({ changed }) => (changed.length === 0 ? "–" : changed.join(", ")), isLong: true }
]

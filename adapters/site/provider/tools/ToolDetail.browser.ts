/**
 * One tool: its price and state, the form that edits it, and the versions of its price and definition.
 */
import { Fragment } from "preact"
import { announce } from "../../console/Announcements.browser.ts"
import { type Column, DataTable } from "../../console/DataTable.browser.ts"
import { go, pathTo } from "../../console/Place.browser.ts"
import { Loaded, useResource } from "../../console/Resource.browser.ts"
import { CopyValue, Facts, TimeText } from "../../console/Values.browser.ts"
import { h, type View } from "../../console/View.browser.ts"
import type { ToolDetails } from "../../kit/ApiResponses.browser.ts"
import { count, day, milliseconds, plural } from "../../kit/Format.browser.ts"
import { nameOf, readTool, ToolActions } from "./ToolActions.browser.ts"
import { ToolForm } from "./ToolForm.browser.ts"

type PriceVersion = ToolDetails["price_history"][number]
type Version = ToolDetails["version_history"][number]

export const ToolDetail = ({ id }: { readonly id: string }): View => {
  const details = useResource(() => readTool(id), [id])
  return h(Loaded<ToolDetails>, {
    of: details,
    show: (tool) =>
      h(
        Fragment,
        null,
        h(
          "div",
          { class: "toolbar" },
          h("h2", null, nameOf(tool)),
          h(ToolActions, { tool, changed: async () => go(pathTo("tools")) })
        ),
        h(Facts, { all: factsOf(tool) }),
        (tool.unchecked ?? []).map((reason) => h("p", { class: "muted", key: reason }, `Not checked: ${reason}.`)),
        tool.state === "withdrawn"
          ? h("p", null, "This tool is withdrawn. List it again to change it.")
          : h(
              "section",
              { id: "edit" },
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
      )
  })
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

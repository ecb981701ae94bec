/**
 * Imports the tools of the provider's MCP server: preview, import, sync settings and history.
 */
import { type ComponentChildren, Fragment } from "preact"
import { announce } from "../../console/Announcements.browser.ts"
import { useConsole } from "../../console/ConsoleContext.browser.ts"
import { type Column, DataTable } from "../../console/DataTable.browser.ts"
import { InputForm, type Values } from "../../console/InputForm.browser.ts"
import { go, pathTo } from "../../console/Place.browser.ts"
import { Loaded, useResource } from "../../console/Resource.browser.ts"
import { Notice, TimeText } from "../../console/Values.browser.ts"
import { h, type View } from "../../console/View.browser.ts"
import { invalid } from "../../kit/ApiRequest.browser.ts"
import type { ImportReport, ToolSync } from "../../kit/ApiResponses.browser.ts"
import { dollarsInput, INVALID_PRICE, money, parseDollars } from "../../kit/Format.browser.ts"
import { SYNC_PATH, SyncHistory, SyncState } from "./SyncState.browser.ts"

// What an import would change: which tools would be listed, at which price, and what would change.

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

const IMPORT_PATH = "/api/v1/market/tools/import"

const NEW_TOOLS = [
  ["draft", "Drafts, which I list myself"],
  ["listed", "Listed in the catalog"]
] as const

export const ImportTools = (): View => {
  const { api } = useConsole()
  const sync = useResource(() => api.get<ToolSync>(SYNC_PATH), [])
  return h(
    Fragment,
    null,
    h("h2", null, "Import tools"),
    h(
      "p",
      { class: "muted" },
      "Reads the tools that your MCP server lists. The preview changes nothing. An import never changes the price of a listed tool."
    ),
    h(Loaded<ToolSync>, {
      of: sync,
      show: (state) =>
        h(
          Fragment,
          null,
          h(ImportForm, { sync: state }),
          h(SyncState, { sync: state, changed: sync.reload }),
          h(SyncHistory, { history: state.history })
        )
    })
  )
}

/** Of the last import, or of the registration. An account without a price says nothing about its tools. */
const defaultPriceOf = (sync: ToolSync): number | undefined => {
  if (sync.default_price_microcents !== null) return sync.default_price_microcents
  return sync.account_price_microcents === 0 ? undefined : sync.account_price_microcents
}

const ImportForm = ({ sync }: { readonly sync: ToolSync }): View => {
  const { api } = useConsole()
  const send = async (values: Values, apply: boolean, idempotencyKey?: string) => {
    const price = parseDollars(values["default_price_microcents"])
    if (price === undefined) throw invalid({ default_price_microcents: INVALID_PRICE })
    const body = { default_price_microcents: price, listed: values["listed"] === "listed", apply }
    return api.post<ImportReport>(IMPORT_PATH, body, idempotencyKey)
  }
  return h(InputForm, {
    id: "import-tools",
    submit: "Preview import",
    keepsValues: true,
    fields: [
      {
        name: "default_price_microcents",
        label: "Price per call of new tools in dollars",
        type: "number",
        placeholder: "0.0005",
        value: dollarsInput(defaultPriceOf(sync)),
        hint: "From $0.000001."
      },
      {
        name: "listed",
        label: "New tools are",
        type: "select",
        choices: NEW_TOOLS,
        value: sync.listed ? "listed" : "draft"
      }
    ],
    send: async (values) => h(ImportPreview, { report: await send(values, false) }),
    secondAction: {
      label: "Import tools",
      send: async (values, idempotencyKey) => {
        const { message } = await send(values, true, idempotencyKey)
        go(pathTo("tools"))
        announce("good", message)
      }
    }
  })
}

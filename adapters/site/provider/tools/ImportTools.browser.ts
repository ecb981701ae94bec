/**
 * Imports the tools of the provider's MCP server: preview, import, sync settings and history.
 */
import type { ComponentChildren } from "preact"
import { ActionButton } from "../../console/ActionButton.browser.ts"
import { announce } from "../../console/Announcements.browser.ts"
import { useConsole } from "../../console/ConsoleContext.browser.ts"
import { type Column, DataTable } from "../../console/DataTable.browser.ts"
import { InputForm, type Values } from "../../console/InputForm.browser.ts"
import { go, pathTo } from "../../console/Place.browser.ts"
import { loaded, useResource } from "../../console/Resource.browser.ts"
import { Badge, Empty, facts, h, Notice, section, TimeText, type View } from "../../console/View.browser.ts"
import { invalid } from "../../kit/ApiRequest.browser.ts"
import type { ImportReport, ToolSync } from "../../kit/ApiResponses.browser.ts"
import { dollarsInput, INVALID_PRICE, money, parseDollars } from "../../kit/Format.browser.ts"

// The state of imports: whether tools follow the MCP server, when it was last read, and what each import changed.

type ImportRecord = ToolSync["history"][number]

const SYNC_PATH = "/api/v1/market/tools/sync"

const SyncState = ({ changed, sync }: { readonly sync: ToolSync; readonly changed: () => Promise<void> }): View => {
  const { api } = useConsole()
  const { checked_at: checked, enabled, next_sync_at: next, problem } = sync
  return section(
    "sync",
    h("h2", null, "Sync"),
    h(
      "p",
      null,
      enabled
        ? "Your tools follow your MCP server, at least every hour. Prices and fields that you have changed stay."
        : "Your tools do not follow your MCP server."
    ),
    problem === null ? undefined : h(Notice, { style: "bad" }, `The server could not be read: ${problem}`),
    facts([
      ["Sync", enabled ? h(Badge, { label: "On", style: "good" }) : h(Badge, { label: "Off" })],
      ["Server last read", checked === null ? "Never" : h(TimeText, { at: checked })],
      ["Next sync", next === null ? undefined : h(TimeText, { at: next })]
    ]),
    h(
      "div",
      { class: "actions" },
      h(ActionButton, {
        key: String(enabled),
        label: enabled ? "Turn off sync" : "Turn on sync",
        style: "plain",
        run: async (idempotencyKey) => {
          const { default_price_microcents, listed } = sync
          await api.post<ToolSync>(SYNC_PATH, { enabled: !enabled, listed, default_price_microcents }, idempotencyKey)
          await changed()
          return enabled ? "Sync is off." : "Sync is on."
        }
      })
    )
  )
}

const SyncHistory = ({ history }: { readonly history: ReadonlyArray<ImportRecord> }): View =>
  section(
    "import-history",
    h("h2", null, "Import history"),
    history.length === 0
      ? h(Empty, null, "No imports yet. Each import, and each sync that changes something, is listed here.")
      : h(DataTable<ImportRecord>, {
          caption: "Import history",
          columns: RECORD_COLUMNS,
          rows: history,
          keyOf: (one) => `${one.imported_at} ${one.source}`
        })
  )

const RECORD_COLUMNS: ReadonlyArray<Column<ImportRecord>> = [
  { name: "Time", cell: ({ imported_at: at }) => h(TimeText, { at }) },
  { name: "By", cell: ({ source }) => (source === "provider" ? "You" : "Sync") },
  {
    name: "Changes",
    cell: (one) => changesOf(one).map((line) => h("div", { key: line }, line)),
    isLong: true
  }
]

const changesOf = (one: ImportRecord): ReadonlyArray<string> => {
  const named = (what: string, names: ReadonlyArray<string>) =>
    names.length === 0 ? [] : [`${what}: ${names.join(", ")}`]
  const lines = [
    ...named("Listed", one.listed),
    ...named("Drafts", one.drafts),
    ...one.changed.map(({ fields, tool_name }) => `${tool_name}: ${fields.join(", ")}`),
    ...named("Listed again", one.restored),
    ...named("Missing", one.missing),
    ...named("Withdrawn", one.withdrawn),
    ...named("Removed drafts", one.removed_drafts),
    ...one.held.map(({ reason, tool_name }) => `${tool_name}: ${reason}`),
    ...one.rejected.map(({ error, tool_name }) => `Rejected ${tool_name}: ${error}`)
  ]
  return lines.length === 0 ? ["Nothing changed"] : lines
}

// A preview of an import: which tools would be listed, at which price, and what would change.

type PlannedTool = ImportReport["tools"][number]

const ACTIONS: Readonly<Record<PlannedTool["action"], string>> = {
  list: "List",
  draft: "Store as draft",
  change: "Change",
  restore: "List again"
}

const ImportPreview = ({ report }: { readonly report: ImportReport }): View =>
  h(
    "div",
    { id: "import-preview" },
    h(Notice, { style: report.rejected.length > 0 ? "" : "good" }, report.message),
    report.tools.length === 0
      ? undefined
      : h(DataTable<PlannedTool>, {
          caption: "What the import changes",
          columns: PLAN_COLUMNS,
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

const PLAN_COLUMNS: ReadonlyArray<Column<PlannedTool>> = [
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

export const ImportTools = (): ComponentChildren => {
  const { api } = useConsole()
  const sync = useResource(() => api.get<ToolSync>(SYNC_PATH), [])
  return [
    h("h2", null, "Import tools"),
    h(
      "p",
      { class: "muted" },
      "Reads the tools that your MCP server lists. The preview changes nothing. An import never changes the price of a listed tool."
    ),
    loaded(sync, (state) => [
      h(ImportForm, { sync: state }),
      h(SyncState, { sync: state, changed: sync.reload }),
      h(SyncHistory, { history: state.history })
    ])
  ]
}

/** The last import decides, or the registration. An account without a price says nothing about its tools. */
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

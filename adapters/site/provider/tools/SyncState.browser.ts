/**
 * Whether the provider's tools follow its MCP server, when the server was last read, and what each import changed.
 */
import { Fragment } from "preact"
import { ActionButton } from "../../console/ActionButton.browser.ts"
import { useConsole } from "../../console/ConsoleContext.browser.ts"
import { type Column, DataTable } from "../../console/DataTable.browser.ts"
import { Badge, Empty, Facts, Notice, TimeText } from "../../console/Values.browser.ts"
import { h, type View } from "../../console/View.browser.ts"
import type { ToolSync } from "../../kit/ApiResponses.browser.ts"

type ImportRecord = ToolSync["history"][number]

export const SYNC_PATH = "/api/v1/market/tools/sync"

export interface SyncStateProps {
  readonly sync: ToolSync
  readonly changed: () => Promise<void>
}

export const SyncState = ({ changed, sync }: SyncStateProps): View => {
  const { api } = useConsole()
  const { checked_at: checked, enabled, next_sync_at: next, problem } = sync
  return h(
    "section",
    { id: "sync" },
    h("h2", null, "Sync"),
    h(
      "p",
      null,
      enabled
        ? "Your tools follow your MCP server, at least every hour. Prices and fields that you have changed stay."
        : "Your tools do not follow your MCP server."
    ),
    problem === null ? undefined : h(Notice, { style: "bad" }, `The server could not be read: ${problem}`),
    h(Facts, {
      all: [
        ["Sync", enabled ? h(Badge, { label: "On", style: "good" }) : h(Badge, { label: "Off" })],
        ["Server last read", checked === null ? "Never" : h(TimeText, { at: checked })],
        ["Next sync", next === null ? undefined : h(TimeText, { at: next })]
      ]
    }),
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

export const SyncHistory = ({ history }: { readonly history: ReadonlyArray<ImportRecord> }): View =>
  h(
    "section",
    { id: "import-history" },
    h("h2", null, "Import history"),
    history.length === 0
      ? h(Empty, null, "No imports yet. Each import, and each sync that changes something, is listed here.")
      : h(DataTable<ImportRecord>, {
          caption: "Import history",
          columns: COLUMNS,
          rows: history,
          keyOf: (one) => `${one.imported_at} ${one.source}`
        })
  )

const COLUMNS: ReadonlyArray<Column<ImportRecord>> = [
  { name: "Time", cell: ({ imported_at: at }) => h(TimeText, { at }) },
  { name: "By", cell: ({ source }) => (source === "provider" ? "You" : "Sync") },
  {
    name: "Changes",
    cell: (one) =>
      h(
        Fragment,
        null,
        changesOf(one).map((line) => h("div", { key: line }, line))
      ),
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

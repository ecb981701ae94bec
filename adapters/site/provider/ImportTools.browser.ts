/**
 * Imports the tools of the provider's MCP server: preview, import, sync settings and history.
 */
import { accountApi } from "../kit/AccountApi.browser.ts"
import { actionButton } from "../kit/Action.browser.ts"
import { invalid } from "../kit/ApiRequest.browser.ts"
import type { ImportReport, ToolSync } from "../kit/ApiResponses.browser.ts"
import { badge, type Child, el, notice } from "../kit/Dom.browser.ts"
import { dateTime, dollarsInput, INVALID_PRICE, money, parseDollars } from "../kit/Format.browser.ts"
import { form, type Values } from "../kit/Form.browser.ts"
import { table } from "../kit/Table.browser.ts"

type PlannedTool = ImportReport["tools"][number]

const IMPORT = "/api/v1/market/tools/import"
const SYNC = "/api/v1/market/tools/sync"

const NEW_TOOLS = [
  ["draft", "Drafts, which I list myself"],
  ["listed", "Listed in the catalog"]
] as const

/** `imported` is called after an import, with its message. */
export const importTools = async (
  status: HTMLElement,
  imported: (message: string) => Promise<void>
): Promise<ReadonlyArray<Node>> => {
  const sync = await accountApi("provider").get<ToolSync>(SYNC)
  const send = async (values: Values, apply: boolean, idempotencyKey?: string) => {
    const price = parseDollars(values["default_price_microcents"]!)
    if (price === undefined) throw invalid({ default_price_microcents: INVALID_PRICE })
    const body = { default_price_microcents: price, listed: values["listed"] === "listed", apply }
    return accountApi("provider").post<ImportReport>(IMPORT, body, idempotencyKey)
  }
  return [
    el(
      "p",
      { class: "muted" },
      "Reads the tools that your MCP server lists. The preview changes nothing. An import never changes the price of a listed tool."
    ),
    form({
      id: "import-tools",
      fields: [
        {
          name: "default_price_microcents",
          label: "Price per call of new tools in dollars",
          type: "number",
          placeholder: "0.0005",
          value: dollarsInput(sync.default_price_microcents ?? undefined),
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
      submit: "Preview import",
      send: async (values) => reportOf(await send(values, false)),
      secondAction: {
        label: "Import tools",
        send: async (values, idempotencyKey) => imported((await send(values, true, idempotencyKey)).message)
      }
    }),
    ...syncSection(sync, status, imported)
  ]
}

const syncSection = (
  sync: ToolSync,
  status: HTMLElement,
  changed: (message: string) => Promise<void>
): ReadonlyArray<Node> => {
  const toggle = actionButton({
    label: sync.enabled ? "Turn off sync" : "Turn on sync",
    style: "tiny plain",
    status,
    run: async (idempotencyKey) => {
      const { default_price_microcents, listed } = sync
      const body = { enabled: !sync.enabled, listed, default_price_microcents }
      await accountApi("provider").post<ToolSync>(SYNC, body, idempotencyKey)
      await changed(sync.enabled ? "Sync is off." : "Sync is on.")
    }
  })
  return [
    el("h4", "Sync"),
    el(
      "p",
      sync.enabled ? badge("On", "good") : badge("Off"),
      sync.enabled
        ? " Your tools follow your MCP server, at least every hour. Prices and fields that you have changed stay."
        : " Your tools do not follow your MCP server.",
      sync.checked_at === null ? undefined : [" Last read ", dateTime(sync.checked_at), "."]
    ),
    ...(sync.problem === null ? [] : [notice("bad", `The server could not be read: ${sync.problem}`)]),
    el("div", { class: "actions" }, toggle),
    el("details", el("summary", "Import history"), historyTable(sync))
  ]
}

/** What an import would change. */
const reportOf = (report: ImportReport): HTMLElement =>
  el(
    "div",
    notice(report.rejected.length > 0 ? "" : "good", report.message),
    report.tools.length === 0
      ? undefined
      : table(
          "Import",
          [
            {
              name: "Tool",
              cell: ({ display_name: name, tool_name }: PlannedTool) => [
                el("code", tool_name),
                name === tool_name ? undefined : el("div", { class: "small muted" }, name)
              ]
            },
            { name: "Action", cell: ({ action }) => ACTIONS[action] },
            {
              name: "Price",
              cell: (tool) => (tool.price_microcents === null ? "Unchanged" : money(tool.price_microcents)),
              isNumber: true
            },
            ...(report.tools.some(({ changed }) => changed.length > 0)
              ? [{ name: "Changes", cell: ({ changed }: PlannedTool) => changed.join(", "), isLong: true }]
              : [])
          ],
          report.tools
        ),
    reasons(
      "Missing on the server",
      report.missing.map((tool) => [tool.tool_name, ": withdrawn from ", dateTime(tool.withdrawn_from)])
    ),
    reasons("Withdrawn", report.withdrawn),
    reasons("Dismissed", report.dismissed),
    reasons(
      "Not imported",
      report.rejected.map(({ error, tool_name: name }) => `${name}: ${error}`)
    )
  )

const ACTIONS: Readonly<Record<PlannedTool["action"], string>> = {
  list: "List",
  draft: "Store as draft",
  change: "Change",
  restore: "List again"
}

const reasons = (title: string, lines: ReadonlyArray<Child>): Child =>
  lines.length === 0
    ? undefined
    : el(
        "details",
        el("summary", `${title} (${lines.length})`),
        el(
          "ul",
          lines.map((line) => el("li", line))
        )
      )

const historyTable = ({ history }: ToolSync): HTMLElement =>
  table(
    "Import history",
    [
      { name: "Time", cell: (one: ToolSync["history"][number]) => dateTime(one.imported_at) },
      { name: "By", cell: ({ source }) => (source === "provider" ? "You" : "Sync") },
      { name: "Changes", cell: (one) => changesOf(one).map((line) => el("div", line)), isLong: true }
    ],
    history,
    "No imports yet."
  )

const changesOf = (one: ToolSync["history"][number]): ReadonlyArray<string> => {
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

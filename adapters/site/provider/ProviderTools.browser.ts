/**
 * The provider's tools: list, edit, withdraw.
 */
import { accountApi } from "../kit/AccountApi.browser.ts"
import { actionButton, statusArea } from "../kit/Action.browser.ts"
import { request } from "../kit/ApiRequest.browser.ts"
import { badge, button, el, fill, notice } from "../kit/Dom.browser.ts"
import { count, day, milliseconds } from "../kit/Format.browser.ts"
import { pagedList } from "../kit/PagedList.browser.ts"
import { type Panel, panel } from "../kit/Panel.browser.ts"
import type { Declaration, OwnTools, ToolDetails } from "../kit/ApiResponses.browser.ts"
import { table } from "../kit/Table.browser.ts"
import { putTool, toolForm } from "./ToolForm.browser.ts"
import { importTools } from "./ImportTools.browser.ts"

type Tool = OwnTools["tools"][number]

const PATH = "/api/v1/market/tools"
const PAGE_SIZE = 50

/** `changed` is called when a tool is listed, edited or withdrawn. */
export const toolsPanel = (changed: () => void): Panel => {
  const status = statusArea()
  const editor = el("div")

  const open = (title: string, content: ReadonlyArray<Node>) => {
    const heading = el("h3", { tabindex: -1 }, title)
    const close = button("Close", () => fill(editor), "tiny plain")
    fill(editor, el("div", { class: "card wide" }, el("div", { class: "toolbar" }, heading, close), ...content))
    heading.focus()
  }
  const reload = async () => {
    fill(editor)
    await made.reload()
    changed()
  }
  const saved = (before?: ToolDetails) => async (declared: Declaration) => {
    await reload()
    const after = before === undefined ? undefined : await readTool(before.id)
    fill(status, notice("good", savedMessage(declared.tool_name, before, after)))
  }
  const shared = { status, style: "tiny plain" }
  const editButton = ({ id, tool_name: name }: Tool) =>
    actionButton({
      ...shared,
      label: "Edit",
      name: `Edit ${name}`,
      run: async () => {
        const details = await readTool(id)
        open(`Edit ${name}`, [
          toolForm("edit-tool", details.declaration, saved(details)),
          el("details", el("summary", "Price history"), priceTable(details))
        ])
      }
    })
  const withdrawButton = ({ id, tool_name: name }: Tool) =>
    actionButton({
      ...shared,
      label: "Withdraw",
      name: `Withdraw ${name}`,
      confirm: {
        title: `Withdraw ${name}?`,
        text: [
          "The tool leaves the catalog and new calls are rejected. Calls in progress complete.",
          "Receipts, usage and disputes are kept. You can list the tool again."
        ],
        action: "Withdraw tool",
        isDangerous: true
      },
      run: async (idempotencyKey) => {
        await accountApi("provider").delete(`${PATH}/${id}`, idempotencyKey)
        await reload()
        return `${name} is withdrawn.`
      }
    })
  const relistButton = ({ id, tool_name: name }: Tool) =>
    actionButton({
      ...shared,
      label: "List again",
      name: `List ${name} again`,
      run: async (idempotencyKey) => {
        await putTool((await readTool(id)).declaration, idempotencyKey)
        await reload()
        return `${name} is listed again.`
      }
    })
  const listButton = ({ tool_name: name }: Tool) =>
    actionButton({
      ...shared,
      label: "List",
      name: `List ${name}`,
      run: async (idempotencyKey) => {
        await putTool({ tool_name: name }, idempotencyKey)
        await reload()
        return `${name} is listed.`
      }
    })
  const dismissButton = ({ id, tool_name: name }: Tool) =>
    actionButton({
      ...shared,
      label: "Dismiss",
      name: `Dismiss ${name}`,
      run: async (idempotencyKey) => {
        await accountApi("provider").delete(`${PATH}/${id}`, idempotencyKey)
        await reload()
        return `The draft ${name} is dismissed. It comes back when your MCP server changes the tool.`
      }
    })
  const actionsOf = (tool: Tool): ReadonlyArray<HTMLElement> => {
    if (tool.state === "draft") return [listButton(tool), dismissButton(tool)]
    return tool.state === "listed" ? [editButton(tool), withdrawButton(tool)] : [relistButton(tool)]
  }
  const imported = async (message: string) => {
    await reload()
    fill(status, notice("good", message))
  }
  const importButton = actionButton({
    label: "Import tools",
    style: "plain",
    status,
    run: async () => open("Import tools", await importTools(status, imported))
  })

  const made = panel(
    "tools",
    "Tools",
    async () => {
      const list = await pagedList(
        (cursor) => accountApi("provider").get<OwnTools>(PATH, { limit: PAGE_SIZE, cursor }),
        (page) => page.tools,
        (all) => toolTable(all, actionsOf)
      )
      return [status, editor, list]
    },
    el(
      "div",
      { class: "actions tight" },
      importButton,
      button("List tool", () => open("List tool", [toolForm("new-tool", undefined, saved())]))
    )
  )
  return made
}

const readTool = (id: string): Promise<ToolDetails> => request<ToolDetails>("GET", `${PATH}/${id}`, { isFresh: true })

const savedMessage = (name: string, before: ToolDetails | undefined, after: ToolDetails | undefined): string => {
  const [then, now] = [before?.price_history[0], after?.price_history[0]]
  if (then === undefined || now === undefined) return `${name} is listed.`
  const upcoming = after?.pricing.upcoming
  if (upcoming && upcoming.price_version !== before?.pricing.upcoming?.price_version) {
    return `${name} is saved. ${priceText(upcoming)} from ${day(upcoming.effective_from)}; until then ${priceText(now)}.`
  }
  return then.version === now.version
    ? `${name} is saved. The price is unchanged.`
    : `${name} is saved. Price version ${now.version}: ${priceText(now)}.`
}

const priceText = (terms: { readonly price: string; readonly free_tier_calls: number }): string =>
  `${terms.price} per call with ${count(terms.free_tier_calls)} free calls per month`

const toolTable = (all: ReadonlyArray<Tool>, actions: (tool: Tool) => ReadonlyArray<HTMLElement>): HTMLElement =>
  table(
    "Tools",
    [
      {
        name: "Tool",
        cell: (tool: Tool) => [
          tool.state === "draft" ? tool.display_name : el("a", { href: `/catalog/${tool.id}` }, tool.display_name),
          tool.display_name === tool.tool_name
            ? undefined
            : el("div", { class: "small muted" }, el("code", tool.tool_name)),
          tool.state === "listed" ? undefined : el("div", badge(tool.state === "draft" ? "Draft" : "Withdrawn"))
        ]
      },
      { name: "Category", cell: (tool) => tool.category },
      {
        name: "Price",
        cell: ({ pricing: { price, upcoming } }) => [
          price,
          upcoming === null
            ? undefined
            : el("div", { class: "small muted" }, `${upcoming.price} from ${day(upcoming.effective_from)}`)
        ],
        isNumber: true
      },
      { name: "Free per month", cell: ({ pricing }) => count(pricing.free_tier_calls), isNumber: true },
      { name: "Calls", cell: ({ stats }) => count(stats.total_calls), isNumber: true },
      { name: "p95 latency", cell: ({ stats }) => milliseconds(stats.p95_latency_ms), isNumber: true },
      { name: "", cell: (tool) => el("div", { class: "actions tight" }, ...actions(tool)) }
    ],
    all,
    "No tools yet. Import the tools of your MCP server, or list one by hand."
  )

const priceTable = (details: ToolDetails): HTMLElement =>
  table(
    "Price history",
    [
      { name: "Version", cell: (price: ToolDetails["price_history"][number]) => price.version },
      { name: "Effective from", cell: (price) => day(price.effective_from) },
      { name: "Price", cell: (price) => price.price, isNumber: true },
      { name: "Free per month", cell: (price) => count(price.free_tier_calls), isNumber: true }
    ],
    details.price_history
  )

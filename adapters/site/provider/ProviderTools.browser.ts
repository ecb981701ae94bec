/**
 * The provider's tools: what they cost and how they do, each to edit, and another one to list.
 */
import type { Declaration, OwnTools, ToolDetails, ToolsPut } from "../kit/Answers.browser.ts"
import { ask } from "../kit/Api.browser.ts"
import { confirmed } from "../kit/Confirm.browser.ts"
import { deed, saying } from "../kit/Action.browser.ts"
import { badge, button, el, empty, fill, notice } from "../kit/Dom.browser.ts"
import { count, day, milliseconds } from "../kit/Figures.browser.ts"
import { type Panel, panel } from "../kit/Panel.browser.ts"
import { pages } from "../kit/Paging.browser.ts"
import { keyOf } from "../kit/Session.browser.ts"
import { table } from "../kit/Table.browser.ts"
import { toolForm } from "./ToolForm.browser.ts"

type Tool = OwnTools["tools"][number]

const PATH = "/api/v1/market/tools"

const SHOWN_AT_ONCE = 50

/** `changed` is told when there is another tool, another price, or one tool less. */
export const tools = (changed: () => void): Panel => {
  const said = saying()
  const editor = el("div", {})

  const close = () => fill(editor)
  const open = (title: string, content: ReadonlyArray<Node>) => {
    const heading = el("h3", { tabindex: -1 }, title)
    fill(
      editor,
      el(
        "div",
        { class: "card wide" },
        el("div", { class: "toolbar" }, heading, button("Close", close, "tiny plain")),
        ...content
      )
    )
    heading.focus()
  }
  const saved = (before: ToolDetails | undefined) => async (declared: Declaration) => {
    close()
    await made.reload()
    changed()
    const current = before === undefined ? undefined : await detailsOf(before.id)
    fill(said, notice("good", sentenceOf(declared.tool_name, before, current)))
  }
  const adding = button("List a tool", () => open("List a tool", [toolForm("new-tool", undefined, saved(undefined))]))
  const editing = (tool: Tool) => {
    const opener = deed(
      "Edit",
      said,
      async () => {
        const details = await detailsOf(tool.id)
        open(`Edit ${tool.tool_name}`, [
          toolForm("edit-tool", details.declaration, saved(details)),
          el("details", {}, el("summary", {}, "Its prices so far"), priceTable(details))
        ])
        return undefined
      },
      "tiny plain"
    )
    opener.setAttribute("aria-label", `Edit ${tool.tool_name}`)
    return opener
  }

  const moved = async (sentence: string): Promise<string> => {
    close()
    await made.reload()
    changed()
    return sentence
  }
  const withdrawing = ({ id, tool_name: name }: Tool) => {
    const doer = deed(
      "Withdraw",
      said,
      async (idempotencyKey) => {
        const agreed = await confirmed({
          title: `Withdraw ${name}?`,
          text: [
            el("p", {}, "Nobody finds it any more, and calls of it are refused. Calls that are under way still end."),
            el("p", {}, "Its receipts, usage and disputes stay. You can list it again.")
          ],
          yes: "Withdraw it",
          isDangerous: true
        })
        if (!agreed) return undefined
        await ask("DELETE", `${PATH}/${id}`, { key: keyOf("provider"), idempotencyKey })
        return moved(`${name} is withdrawn.`)
      },
      "tiny plain"
    )
    doer.setAttribute("aria-label", `Withdraw ${name}`)
    return doer
  }
  const relisting = ({ id, tool_name: name }: Tool) => {
    const doer = deed(
      "List again",
      said,
      async (idempotencyKey) => {
        const { declaration } = await detailsOf(id)
        const body = { tools: [declaration] }
        await ask<ToolsPut>("POST", "/api/market/tools", { key: keyOf("provider"), idempotencyKey, body })
        return moved(`${name} is listed again, as it was.`)
      },
      "tiny plain"
    )
    doer.setAttribute("aria-label", `List ${name} again`)
    return doer
  }
  const doing = (tool: Tool): ReadonlyArray<HTMLElement> =>
    tool.withdrawn_at === null ? [editing(tool), withdrawing(tool)] : [relisting(tool)]

  const made = panel(
    "tools",
    "Tools and prices",
    async () => {
      const list = await pages(
        async (cursor) => {
          const more = cursor === undefined ? {} : { cursor }
          const query = new URLSearchParams({ limit: String(SHOWN_AT_ONCE), ...more })
          const page = await ask<OwnTools>("GET", `${PATH}?${query}`, { key: keyOf("provider") })
          return { items: page.tools, next: page.next_cursor }
        },
        (all) => [
          all.length === 0
            ? empty("No tools yet. List what your MCP server offers: developers find it at once, with its price.")
            : toolTable(all, doing)
        ]
      )
      return [said, editor, list]
    },
    adding
  )
  return made
}

const detailsOf = (id: string): Promise<ToolDetails> => ask<ToolDetails>("GET", `${PATH}/${id}`, { isFresh: true })

const sentenceOf = (name: string, before: ToolDetails | undefined, current: ToolDetails | undefined): string => {
  const [then, now] = [before?.price_history[0], current?.price_history[0]]
  const [planned, upcoming] = [before?.pricing.upcoming, current?.pricing.upcoming]
  if (upcoming && upcoming.price_version !== planned?.price_version) {
    return `${name} is saved. From ${day(upcoming.effective_from)} on: ${upcoming.price} a call and ${count(upcoming.free_tier_calls)} free ones a month. Until then it stays at ${now!.price} and ${count(now!.free_tier_calls)}.`
  }
  if (then === undefined || now === undefined) return `${name} is listed.`
  return then.version === now.version
    ? `${name} is saved. Its price stays as it was.`
    : `${name} is saved, with price version ${now.version}: ${now.price} a call and ${count(now.free_tier_calls)} free ones a month, from now on.`
}

const toolTable = (all: ReadonlyArray<Tool>, doing: (tool: Tool) => ReadonlyArray<HTMLElement>): HTMLElement =>
  table(
    "Tools and prices",
    [
      {
        name: "Tool",
        cell: (tool: Tool) => [
          el("a", { href: `/catalog/${tool.id}` }, tool.display_name),
          tool.display_name === tool.tool_name
            ? undefined
            : el("div", { class: "small muted" }, el("code", {}, tool.tool_name)),
          tool.withdrawn_at === null ? undefined : el("div", {}, badge("Withdrawn"))
        ]
      },
      { name: "Category", cell: (tool) => tool.category },
      {
        name: "Price",
        cell: ({ pricing }) => [
          pricing.price,
          pricing.upcoming === null
            ? undefined
            : el(
                "div",
                { class: "small muted" },
                `${pricing.upcoming.price} from ${day(pricing.upcoming.effective_from)}`
              )
        ],
        isNumber: true
      },
      { name: "Free a month", cell: ({ pricing }) => count(pricing.free_tier_calls), isNumber: true },
      { name: "Calls", cell: ({ stats }) => count(stats.total_calls), isNumber: true },
      { name: "95 of 100 within", cell: ({ stats }) => milliseconds(stats.p95_latency_ms), isNumber: true },
      { name: "", cell: (tool) => el("div", { class: "actions tight" }, ...doing(tool)) }
    ],
    all
  )

const priceTable = (details: ToolDetails): HTMLElement =>
  table(
    "Prices so far",
    [
      { name: "Version", cell: (price: ToolDetails["price_history"][number]) => price.version },
      { name: "Since", cell: (price) => day(price.effective_from) },
      { name: "Price", cell: (price) => price.price, isNumber: true },
      { name: "Free a month", cell: (price) => count(price.free_tier_calls), isNumber: true }
    ],
    details.price_history
  )

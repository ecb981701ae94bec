/**
 * What a provider can do with a tool: withdraw it, list it again, list or dismiss a draft.
 */
import { Fragment } from "preact"
import { ActionButton } from "../../console/ActionButton.browser.ts"
import { type ConsoleApi, useConsole } from "../../console/ConsoleContext.browser.ts"
import { h, type View } from "../../console/View.browser.ts"
import { request } from "../../kit/ApiRequest.browser.ts"
import type { Declaration, OwnTools, ToolDetails, ToolsResponse } from "../../kit/ApiResponses.browser.ts"

// Requests about one tool of the provider.

export type OwnTool = OwnTools["tools"][number]

export const TOOLS_PATH = "/api/v1/market/tools"

export const putTool = (api: ConsoleApi, declaration: Declaration, idempotencyKey: string): Promise<ToolsResponse> =>
  api.post<ToolsResponse>("/api/market/tools", { tools: [declaration] }, idempotencyKey)

/** Withdraws a listed tool, or dismisses a draft. */
export const removeTool = (api: ConsoleApi, id: string, idempotencyKey: string): Promise<unknown> =>
  api.delete(`${TOOLS_PATH}/${id}`, idempotencyKey)

export const readTool = (id: string): Promise<ToolDetails> =>
  request<ToolDetails>("GET", `${TOOLS_PATH}/${encodeURIComponent(id)}`, { isFresh: true })

export const nameOf = ({
  display_name: display,
  tool_name: name
}: Pick<OwnTool, "display_name" | "tool_name">): string => (display === "" ? name : display)

export interface ToolActionsProps {
  readonly tool: Pick<OwnTool, "id" | "tool_name" | "state" | "pricing">
  readonly changed: () => Promise<void>
}

export const ToolActions = ({ changed, tool }: ToolActionsProps): View => {
  const { api } = useConsole()
  return h(
    "div",
    { class: "actions tight" },
    ACTIONS[tool.state].map((action) => {
      const { confirm, label, name, run, style = "tiny plain" } = action(tool)
      return h(ActionButton, {
        key: label,
        label,
        name,
        style,
        ...(confirm === undefined ? {} : { confirm }),
        run: async (idempotencyKey) => {
          const message = await run(api, idempotencyKey)
          await changed()
          return message
        }
      })
    })
  )
}

type Tool = ToolActionsProps["tool"]

interface Action {
  readonly label: string
  readonly name: string
  readonly style?: string
  readonly confirm?: {
    readonly title: string
    readonly text: View
    readonly action: string
    readonly isDangerous?: boolean
  }
  readonly run: (api: ConsoleApi, idempotencyKey: string) => Promise<string>
}

const withdraw = ({ id, tool_name: name }: Tool): Action => ({
  label: "Withdraw",
  name: `Withdraw ${name}`,
  confirm: {
    title: `Withdraw ${name}?`,
    text: h(
      Fragment,
      null,
      h("p", null, "The tool leaves the catalog and new calls are rejected. Calls in progress complete."),
      h("p", null, "Receipts, usage and disputes are kept. You can list the tool again.")
    ),
    action: "Withdraw tool",
    isDangerous: true
  },
  run: async (api, idempotencyKey) => {
    await removeTool(api, id, idempotencyKey)
    return `${name} is withdrawn.`
  }
})

const relist = ({ id, tool_name: name }: Tool): Action => ({
  label: "List again",
  name: `List ${name} again`,
  run: async (api, idempotencyKey) => {
    await putTool(api, (await readTool(id)).declaration, idempotencyKey)
    return `${name} is listed again.`
  }
})

const list = ({ pricing, tool_name: name }: Tool): Action => ({
  label: "List",
  name: `List ${name}`,
  confirm: {
    title: `List ${name}?`,
    text: h("p", null, `The tool enters the catalog at ${pricing.price} per call. You can change the price later.`),
    action: "List tool"
  },
  run: async (api, idempotencyKey) => {
    await putTool(api, { tool_name: name }, idempotencyKey)
    return `${name} is listed.`
  }
})

const dismiss = ({ id, tool_name: name }: Tool): Action => ({
  label: "Dismiss",
  name: `Dismiss ${name}`,
  run: async (api, idempotencyKey) => {
    await removeTool(api, id, idempotencyKey)
    return `The draft ${name} is dismissed. It comes back when your MCP server changes the tool.`
  }
})

const ACTIONS: Readonly<Record<OwnTool["state"], ReadonlyArray<(tool: Tool) => Action>>> = {
  draft: [list, dismiss],
  listed: [withdraw],
  withdrawn: [relist]
}

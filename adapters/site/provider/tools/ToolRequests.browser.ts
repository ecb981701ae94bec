/**
 * Requests about one tool of the provider.
 */
import type { ConsoleApi } from "../../console/ConsoleContext.browser.ts"
import { request } from "../../kit/ApiRequest.browser.ts"
import type { Declaration, OwnTools, ToolDetails, ToolsResponse } from "../../kit/ApiResponses.browser.ts"

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

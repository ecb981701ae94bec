/**
 * A provider registers tools, each validated separately, and withdraws them.
 */
import { Effect, Option, Result } from "effect"
import { AccountStore } from "../../../domain/accounts/AccountStore.ts"
import { qualifiedName } from "../../../domain/accounts/Handle.ts"
import { Catalog } from "../../../domain/catalog/Catalog.ts"
import type { RejectedTool } from "../../../domain/catalog/ToolUpserts.ts"
import type { ToolChange } from "../../../domain/catalog/Tool.ts"
import { format } from "../../../domain/shared/Timestamp.ts"
import { CatalogApi, RegisterToolsLenient } from "../api/CatalogApi.ts"
import { toChange, ToolBody } from "../api/ToolBody.ts"
import { pageFields, pageRequest } from "../pipeline/Cursor.ts"
import { payloadDecoder } from "../pipeline/Decoding.ts"
import { type Fault, NoToolRegistered } from "../pipeline/Failures.ts"
import { route } from "../pipeline/Route.ts"
import { makeToolViews } from "./ToolViews.ts"

const OWN_TOOLS = "tools"

export const toolsRoutes = Effect.gen(function* () {
  const catalog = yield* Catalog
  const accounts = yield* AccountStore
  const views = yield* makeToolViews

  return [
    route(
      CatalogApi.endpoints.registerTools,
      function* ({ as, payload }) {
        const { changes, indexes, rejected } = yield* validateTools(payload.tools)
        const { ownerId } = as("provider")
        const result = yield* catalog.upsert(ownerId, changes)
        const errors = [
          ...rejected,
          ...result.rejected.map((tool) => ({ ...tool, index: indexes[tool.index]! }))
        ].toSorted((a, b) => a.index - b.index)
        if (result.stored.length === 0) return yield* new NoToolRegistered({ tools: errors })
        const { handle } = Option.getOrThrow(yield* accounts.findProvider(ownerId))
        return {
          registered: result.stored.length,
          errors: errors.length,
          tools: result.stored.map((tool) => ({
            id: tool.id,
            tool_name: tool.toolName,
            qualified_name: qualifiedName(handle, tool.toolName),
            action: tool.action
          })),
          tool_errors: errors.map(({ tool_name, error }) => ({ tool_name, error })),
          message:
            errors.length === 0
              ? `${result.stored.length} registered.`
              : `${result.stored.length} registered, ${errors.length} rejected: see tool_errors.`
        }
      },
      { lenientPayload: RegisterToolsLenient }
    ),
    route(CatalogApi.endpoints.ownTools, function* ({ as, query }) {
      const { ownerId } = as("provider")
      const page = yield* pageRequest(OWN_TOOLS, query)
      const found = yield* catalog.search({
        q: undefined,
        category: undefined,
        providerId: ownerId,
        state: query.state ?? "any",
        sort: "name",
        page
      })
      return { tools: yield* views.listed(found.items), ...pageFields(OWN_TOOLS, page, found) }
    }),
    route(CatalogApi.endpoints.withdrawTool, function* ({ as, params }) {
      const { entry, since } = yield* catalog.withdraw(as("provider").ownerId, params.id)
      const { toolName } = entry.tool
      return {
        withdrawn: true as const,
        tool_id: entry.tool.id,
        tool_name: toolName,
        withdrawn_at: format(since),
        message: `${toolName} is withdrawn and cannot be called. POST /api/market/tools lists it again.`
      }
    })
  ]
})

const decodeTool = payloadDecoder(ToolBody)
/** Faults listed per tool. */
const SENTENCES_MAX = 5

/** The valid tools, with their index in the request, and the reasons for rejecting the others. */
const validateTools = Effect.fnUntraced(function* (tools: ReadonlyArray<unknown>) {
  const changes: Array<ToolChange> = []
  const indexes: Array<number> = []
  const rejected: Array<RejectedTool & { readonly faults: ReadonlyArray<Fault> }> = []
  for (const [index, tool] of tools.entries()) {
    const result = yield* Effect.result(decodeTool(tool))
    if (Result.isSuccess(result)) {
      changes.push(toChange(result.success as ToolBody))
      indexes.push(index)
    } else {
      const { faults } = result.failure
      rejected.push({ index, tool_name: nameOf(tool), error: sentences(faults), faults })
    }
  }
  return { changes, indexes, rejected }
})

const nameOf = (tool: unknown): string =>
  typeof tool === "object" && tool !== null && "tool_name" in tool && typeof tool.tool_name === "string"
    ? tool.tool_name.slice(0, 128)
    : ""

const sentences = (faults: ReadonlyArray<Fault>): string => {
  const said = faults.slice(0, SENTENCES_MAX).map(({ message }) => message)
  return faults.length > SENTENCES_MAX ? `${said.join(" ")} (${faults.length - SENTENCES_MAX} more.)` : said.join(" ")
}

/**
 * Toolboxes in memory.
 */
import { Effect, Layer } from "effect"
import { scopeId } from "../../../domain/mcp/Toolbox.ts"
import { type ToolboxScope, ToolboxStore } from "../../../domain/accounts/ToolboxStore.ts"
import type { ToolId } from "../../../domain/shared/Ids.ts"
import { put, remove } from "../shared/MemoryUnitOfWork.ts"

interface ToolboxRow extends ToolboxScope {
  readonly tools: ReadonlyArray<ToolId>
}

export const layer = Layer.sync(ToolboxStore, () => {
  const toolboxes = new Map<string, ToolboxRow>()
  return ToolboxStore.of({
    tools: (scope) =>
      Effect.sync(() => {
        const row = toolboxes.get(scopeId(scope))
        return row?.consumerId === scope.consumerId ? row.tools : []
      }),
    put: (scope, tools) =>
      tools.length === 0 ? remove(toolboxes, scopeId(scope)) : put(toolboxes, scopeId(scope), { ...scope, tools }),
    removeAll: (consumerId) =>
      Effect.suspend(() =>
        Effect.forEach(
          [...toolboxes].filter(([, row]) => row.consumerId === consumerId),
          ([id]) => remove(toolboxes, id),
          { discard: true }
        )
      )
  })
})

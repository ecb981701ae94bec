/**
 * Aliases of tools in memory.
 */
import { Effect, Layer, Option } from "effect"
import { ToolAliasStore } from "../../../domain/mcp/ToolAliases.ts"
import type { ToolId } from "../../../domain/shared/Ids.ts"
import { MemoryTables } from "../shared/MemoryTables.ts"
import { put } from "../shared/MemoryUnitOfWork.ts"

interface AliasRow {
  readonly toolId: ToolId
  readonly erased: boolean
}

export const layer = Layer.effect(
  ToolAliasStore,
  Effect.gen(function* () {
    const { tools } = yield* MemoryTables
    const aliases = new Map<string, AliasRow>()
    const aliasOfTool = new Map<ToolId, string>()

    const shown = (alias: string | undefined): AliasRow | undefined => {
      const row = alias === undefined ? undefined : aliases.get(alias)
      return row?.erased === false ? row : undefined
    }

    return ToolAliasStore.of({
      ofTools: (ids) =>
        Effect.sync(() => {
          const found = new Map<ToolId, string>()
          for (const id of ids) {
            const alias = aliasOfTool.get(id)
            if (alias !== undefined && shown(alias) !== undefined) found.set(id, alias)
          }
          return found
        }),

      toolOf: (alias) => Effect.sync(() => Option.map(Option.fromNullishOr(shown(alias)), ({ toolId }) => toolId)),

      claim: (alias, toolId) =>
        Effect.suspend(() =>
          aliases.has(alias) || aliasOfTool.has(toolId)
            ? Effect.succeed(false)
            : Effect.as(
                Effect.andThen(put(aliases, alias, { toolId, erased: false }), put(aliasOfTool, toolId, alias)),
                true
              )
        ),

      erase: (providerId) =>
        Effect.suspend(() =>
          Effect.forEach(
            [...aliases].filter(([, { toolId }]) => tools.get(toolId)?.tool.providerId === providerId),
            ([alias, row]) => put(aliases, alias, { ...row, erased: true }),
            { discard: true }
          )
        )
    })
  })
)

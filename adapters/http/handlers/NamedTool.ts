/**
 * Finds the tool of a path: by its id, or by its qualified name with the slashes encoded as `%2F`.
 */
import { Effect, Option } from "effect"
import { splitQualified } from "../../../domain/accounts/Handle.ts"
import type { Catalog } from "../../../domain/catalog/Catalog.ts"
import type { CatalogEntry } from "../../../domain/catalog/CatalogStore.ts"
import { ToolNotFound } from "../../../domain/metering/ToolDirectory.ts"
import { ToolId } from "../../../domain/shared/Ids.ts"
import type { StoreUnavailable } from "../../../domain/shared/StoreUnavailable.ts"

export const namedTool = (
  catalog: Catalog["Service"],
  name: string
): Effect.Effect<CatalogEntry, ToolNotFound | StoreUnavailable> => {
  const parts = splitQualified(name)
  const found =
    parts === undefined
      ? Option.match(ToolId.makeOption(name), { onNone: () => Effect.succeedNone, onSome: catalog.find })
      : catalog.findQualified(parts.handle, parts.toolName)
  return Effect.flatMap(found, (entry) =>
    Option.isNone(entry) ? Effect.fail(new ToolNotFound({ tool: name })) : Effect.succeed(entry.value)
  )
}

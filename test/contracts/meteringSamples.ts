/**
 * Listed tools and completed calls for tests.
 */
import { DateTime, Effect } from "effect"
import type { Provider } from "../../domain/accounts/Account.ts"
import { CatalogStore } from "../../domain/catalog/CatalogStore.ts"
import type { OpenCall } from "../../domain/metering/CallStore.ts"
import type { ConsumerId, ToolId } from "../../domain/shared/Ids.ts"
import type { PageRequest } from "../../domain/shared/Page.ts"
import { aCall, type Ending, settled } from "./ledgerSamples.ts"
import { aTool } from "./samples.ts"

export const FIRST_PAGE: PageRequest = { limit: 50, offset: 0, after: undefined }

/** A listed tool. */
export const aListedTool = Effect.fnUntraced(function* (provider: Provider, toolName: string) {
  const tool = yield* aTool(provider, { toolName })
  yield* (yield* CatalogStore).upsert(tool)
  return { providerId: provider.id, toolId: tool.id, toolName }
})

export interface CalledTool {
  readonly providerId: Provider["id"]
  readonly toolId: ToolId
  readonly toolName: string
}

/** A completed call of the tool at the given time. */
export const called = Effect.fnUntraced(function* (
  consumerId: ConsumerId,
  tool: CalledTool,
  at: string,
  ending: Ending = {},
  changes: Partial<OpenCall> = {}
) {
  const call = yield* aCall(consumerId, { ...tool, openedAt: DateTime.makeUnsafe(at), ...changes })
  return yield* settled(call, ending)
})

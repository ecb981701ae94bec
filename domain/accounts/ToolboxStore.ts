/**
 * Port to toolboxes: the tools that an account, or one of its keys, has chosen for the market door.
 */
import { Context, type DateTime, type Effect } from "effect"
import type { ConsumerId, KeyId, ToolId } from "../shared/Ids.ts"
import type { StoreUnavailable } from "../shared/StoreUnavailable.ts"

/** The owner of a toolbox: one key, or without a key the account. */
export interface ToolboxScope {
  readonly consumerId: ConsumerId
  readonly keyId: KeyId | undefined
}

/** Ids are unique among accounts and keys. */
export const scopeId = ({ consumerId, keyId }: ToolboxScope): string => keyId ?? consumerId

export class ToolboxStore extends Context.Service<
  ToolboxStore,
  {
    /** Returns the tools in order. Empty: there is no such toolbox. */
    tools(scope: ToolboxScope): Effect.Effect<ReadonlyArray<ToolId>, StoreUnavailable>
    /** Replaces the toolbox; an empty list removes it. */
    put(scope: ToolboxScope, tools: ReadonlyArray<ToolId>, at: DateTime.Utc): Effect.Effect<void, StoreUnavailable>
    /** All toolboxes of the account, when it is erased. */
    removeAll(consumerId: ConsumerId): Effect.Effect<void, StoreUnavailable>
  }
>()("agent-tool-billing/domain/accounts/ToolboxStore") {}

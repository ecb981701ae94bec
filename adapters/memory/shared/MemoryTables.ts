/**
 * State that the memory stores share, so that they can join it. Created with every build of the layer.
 */
import { Context, Layer } from "effect"
import type { Consumer, Erasure, Provider } from "../../../domain/accounts/Account.ts"
import type { HandleClaim } from "../../../domain/accounts/HandleStore.ts"
import type { ApiKey } from "../../../domain/accounts/ApiKey.ts"
import type { PriceVersion, ToolPrices } from "../../../domain/catalog/Terms.ts"
import type { Tool } from "../../../domain/catalog/Tool.ts"
import type { ConsumerId, KeyId, ProviderId, ToolId } from "../../../domain/shared/Ids.ts"

export interface ToolRow {
  readonly tool: Tool
  readonly prices: ToolPrices
  readonly searchTokens: ReadonlyArray<string>
  /** Every version, newest last. */
  readonly history: ReadonlyArray<PriceVersion>
}

export interface HandleRow extends HandleClaim {
  readonly retired: boolean
  readonly erased: boolean
}

export class MemoryTables extends Context.Service<
  MemoryTables,
  {
    readonly providers: Map<ProviderId, Provider>
    readonly consumers: Map<ConsumerId, Consumer>
    readonly handles: Map<string, HandleRow>
    readonly erasures: Map<ConsumerId | ProviderId, Erasure>
    readonly keys: Map<KeyId, ApiKey>
    readonly keysByHash: Map<string, KeyId>
    readonly keysOfOwner: Map<ConsumerId | ProviderId, ReadonlyArray<KeyId>>
    readonly tools: Map<ToolId, ToolRow>
    readonly toolsOfProvider: Map<ProviderId, ReadonlyMap<string, ToolId>>
    readonly toolsByName: Map<string, ReadonlyArray<ToolId>>
  }
>()("agent-tool-billing/adapters/memory/MemoryTables") {
  static readonly layer = Layer.sync(MemoryTables, () => ({
    providers: new Map(),
    consumers: new Map(),
    handles: new Map(),
    erasures: new Map(),
    keys: new Map(),
    keysByHash: new Map(),
    keysOfOwner: new Map(),
    tools: new Map(),
    toolsOfProvider: new Map(),
    toolsByName: new Map()
  }))
}

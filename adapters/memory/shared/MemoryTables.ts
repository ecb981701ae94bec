/**
 * State that the memory stores share, so that they can join it. Created with every build of the layer.
 */
import { Context, Effect, Layer } from "effect"
import type { Consumer, Erasure, Provider } from "../../../domain/accounts/Account.ts"
import type { HandleClaim } from "../../../domain/accounts/Handle.ts"
import type { ApiKey } from "../../../domain/accounts/Keys.ts"
import type { Level } from "../../../domain/accounts/Levels.ts"
import type { ToolVersion } from "../../../domain/catalog/CatalogStore.ts"
import type { PriceVersion, ToolPrices } from "../../../domain/catalog/Terms.ts"
import type { StoredTool } from "../../../domain/catalog/Tool.ts"
import type { FeeChange } from "../../../domain/ledger/PlatformFee.ts"
import type { ConsumerId, KeyId, LevelId, ProviderId, ToolId } from "../../../domain/shared/Ids.ts"

export interface ToolRow {
  readonly tool: StoredTool
  readonly prices: ToolPrices
  readonly searchTokens: ReadonlyArray<string>
  /** Every version, newest last. */
  readonly history: ReadonlyArray<PriceVersion>
}

export interface HandleRow extends HandleClaim {
  readonly retired: boolean
  readonly erased: boolean
}

export class MemoryTables extends Context.Service<MemoryTables>()("agent-tool-billing/adapters/memory/MemoryTables", {
  make: Effect.sync(() => ({
    providers: new Map<ProviderId, Provider>(),
    /** Newest first. */
    providerFees: new Map<ProviderId, ReadonlyArray<FeeChange>>(),
    consumers: new Map<ConsumerId, Consumer>(),
    handles: new Map<string, HandleRow>(),
    erasures: new Map<ConsumerId | ProviderId, Erasure>(),
    keys: new Map<KeyId, ApiKey>(),
    keysByHash: new Map<string, KeyId>(),
    keysOfOwner: new Map<ConsumerId | ProviderId, ReadonlyArray<KeyId>>(),
    levels: new Map<LevelId, Level>(),
    runsByKeyHash: new Map<string, LevelId>(),
    tools: new Map<ToolId, ToolRow>(),
    /** Newest last. */
    toolVersions: new Map<ToolId, ReadonlyArray<ToolVersion>>(),
    toolsOfProvider: new Map<ProviderId, ReadonlyMap<string, ToolId>>(),
    toolsByName: new Map<string, ReadonlyArray<ToolId>>()
  }))
}) {
  static readonly layer = Layer.effect(MemoryTables, MemoryTables.make)
}

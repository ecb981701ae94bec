/**
 * Port to what is known of providers' servers: how each is kept in sync, what it listed at the last import, and what the
 * imports changed.
 */
import { Context, type DateTime, type Effect, type Option } from "effect"
import type { ProviderId } from "../shared/Ids.ts"
import type { Microcents } from "../shared/Microcents.ts"
import type { StoreUnavailable } from "../shared/StoreUnavailable.ts"
import type { ImportResult } from "./ImportResult.ts"
import type { ChangeSource, ToolDefinition } from "./ToolVersions.ts"

/** Whether and how the service reads the tools of a provider again on a schedule. */
export interface SyncSettings {
  readonly enabled: boolean
  /** New tools are listed, else they are drafts. */
  readonly listed: boolean
  /** Of new tools; undefined: the provider's default. */
  readonly defaultPrice: Microcents | undefined
}

/** The settings of a sync, when it is due, and how it went last. */
export interface SyncState extends SyncSettings {
  readonly nextAt: DateTime.Utc
  /** When the server was read last, or could not be. */
  readonly checkedAt: DateTime.Utc | undefined
  /** Why it could not be read; undefined if it was. */
  readonly problem: string | undefined
}

/** A tool as the server last listed it, which a sync compares with the next list. */
export interface ImportedTool {
  readonly toolName: string
  readonly definition: ToolDefinition
  /** When the server first failed to list it. */
  readonly missingSince: DateTime.Utc | undefined
  /** The provider does not want this definition as a draft. */
  readonly dismissed?: true
}

/** What one import or sync did to a provider's tools, for the provider to read later. */
export interface ImportRecord {
  /** Ordered by time. */
  readonly id: string
  readonly importedAt: DateTime.Utc
  /** `server`: a sync in the background. */
  readonly source: ChangeSource
  readonly result: ImportResult
}

export class ImportStore extends Context.Service<
  ImportStore,
  {
    sync(providerId: ProviderId): Effect.Effect<Option.Option<SyncState>, StoreUnavailable>
    /** `nextAt`: of the first sync; where there were settings, an earlier time stays. */
    configure(
      providerId: ProviderId,
      settings: SyncSettings,
      nextAt: DateTime.Utc
    ): Effect.Effect<void, StoreUnavailable>
    /**
     * Providers whose sync is due, longest first, at most `limit`. Their next sync is set to `nextAt`, so that no other node
     * takes them.
     */
    claimDue(
      now: DateTime.Utc,
      nextAt: DateTime.Utc,
      limit: number
    ): Effect.Effect<ReadonlyArray<ProviderId>, StoreUnavailable>
    /** The next sync of an enabled provider comes now, but at least `afterMs` after the server was checked last. */
    hasten(providerId: ProviderId, now: DateTime.Utc, afterMs: number): Effect.Effect<void, StoreUnavailable>
    checked(
      providerId: ProviderId,
      at: DateTime.Utc,
      problem: string | undefined
    ): Effect.Effect<void, StoreUnavailable>
    imported(providerId: ProviderId): Effect.Effect<ReadonlyArray<ImportedTool>, StoreUnavailable>
    putImported(providerId: ProviderId, tools: ReadonlyArray<ImportedTool>): Effect.Effect<void, StoreUnavailable>
    forgetImported(providerId: ProviderId, toolNames: ReadonlyArray<string>): Effect.Effect<void, StoreUnavailable>
    /** Keeps the newest `keptMax` of the provider. */
    addRecord(providerId: ProviderId, record: ImportRecord, keptMax: number): Effect.Effect<void, StoreUnavailable>
    /** Newest first, at most `limit`. */
    records(providerId: ProviderId, limit: number): Effect.Effect<ReadonlyArray<ImportRecord>, StoreUnavailable>
    /** Everything of a provider. */
    remove(providerId: ProviderId): Effect.Effect<void, StoreUnavailable>
  }
>()("agent-tool-billing/domain/catalog/ImportStore") {}

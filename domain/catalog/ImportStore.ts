/**
 * Port to what is known of providers' servers: how each is kept in sync, what it listed at the last import, and what the
 * imports changed.
 */
import { Context, type DateTime, type Effect, type Option } from "effect"
import type { ProviderId } from "../shared/Ids.ts"
import { sameJson } from "../shared/JsonText.ts"
import type { Microcents } from "../shared/Microcents.ts"
import type { StoreUnavailable } from "../shared/StoreUnavailable.ts"
import type { ChangeSource, ToolDefinition } from "./CatalogStore.ts"
import type { ImportPlan } from "./ImportPlan.ts"

export const NAMES_RECORDED_MAX = 100

export interface ChangedTool {
  readonly toolName: string
  readonly fields: ReadonlyArray<string>
}

export interface NamedReason {
  readonly toolName: string
  readonly reason: string
}

/** The changes of an import or a sync, for the provider's history: names and reasons, bounded. */
export interface ImportResult {
  /** Listed at once. */
  readonly created: ReadonlyArray<string>
  readonly drafts: ReadonlyArray<string>
  readonly changed: ReadonlyArray<ChangedTool>
  readonly restored: ReadonlyArray<string>
  readonly missing: ReadonlyArray<string>
  readonly withdrawn: ReadonlyArray<string>
  readonly removedDrafts: ReadonlyArray<string>
  readonly held: ReadonlyArray<NamedReason>
  readonly rejected: ReadonlyArray<NamedReason>
  readonly unchanged: number
  readonly counts: ImportCounts
}

/** The counts are of whole lists; the lists themselves may be shortened. */
export interface ImportCounts {
  readonly created: number
  readonly drafts: number
  readonly changed: number
  readonly restored: number
  readonly missing: number
  readonly withdrawn: number
  readonly rejected: number
}

export const resultOf = (plan: ImportPlan): ImportResult => {
  const created = plan.creates.filter(({ draft }) => !draft).map(nameOf)
  const drafts = plan.creates.filter(({ draft }) => draft).map(nameOf)
  const changed = plan.changes.map(({ fields, toolName }) => ({ toolName, fields }))
  const restored = plan.restored.map(nameOf)
  const missing = plan.missing.map(nameOf)
  const { rejected } = plan
  return {
    created: created.slice(0, NAMES_RECORDED_MAX),
    drafts: drafts.slice(0, NAMES_RECORDED_MAX),
    changed: changed.slice(0, NAMES_RECORDED_MAX),
    restored: restored.slice(0, NAMES_RECORDED_MAX),
    missing: missing.slice(0, NAMES_RECORDED_MAX),
    withdrawn: plan.withdrawals.slice(0, NAMES_RECORDED_MAX),
    removedDrafts: plan.removedDrafts.slice(0, NAMES_RECORDED_MAX),
    held: plan.held.slice(0, NAMES_RECORDED_MAX),
    rejected: rejected.slice(0, NAMES_RECORDED_MAX),
    unchanged: plan.unchanged.length,
    counts: {
      created: created.length,
      drafts: drafts.length,
      changed: changed.length,
      restored: restored.length,
      missing: missing.length,
      withdrawn: plan.withdrawals.length,
      rejected: rejected.length
    }
  }
}

/** Tells whether it belongs in the history: it changed something, or says something that `last` does not. */
export const isWorthRecording = (result: ImportResult, last: ImportResult | undefined): boolean => {
  const { changed, created, drafts, restored, withdrawn } = result.counts
  if (created + drafts + changed + restored + withdrawn + result.removedDrafts.length > 0) return true
  return !sameJson(waiting(result), waiting(last))
}

const waiting = (result: ImportResult | undefined) => ({
  missing: result?.missing ?? [],
  held: result?.held ?? [],
  rejected: result?.rejected ?? []
})

const nameOf = ({ toolName }: { readonly toolName: string }): string => toolName

/** Says whether and how the service reads the tools of a provider again on a schedule. */
export interface SyncSettings {
  readonly enabled: boolean
  /** New tools are listed, else they are drafts. */
  readonly listed: boolean
  /** Undefined: new tools get the provider's default. */
  readonly defaultPrice: Microcents | undefined
}

/** The settings of a sync, when it is due, and how it went last. */
export interface SyncState extends SyncSettings {
  readonly nextAt: DateTime.Utc
  /** The last time when the server was read, or could not be. */
  readonly checkedAt: DateTime.Utc | undefined
  /** The reason why it could not be read; undefined if it was. */
  readonly problem: string | undefined
}

/** A tool as the server last listed it, which a sync compares with the next list. */
export interface ImportedTool {
  readonly toolName: string
  readonly definition: ToolDefinition
  /** The time when the server first failed to list it. */
  readonly missingSince: DateTime.Utc | undefined
  /** The provider does not want this definition as a draft. */
  readonly dismissed?: true
}

/** The effect of one import or sync on a provider's tools, for the provider to read later. */
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
    /** Removes everything of a provider. */
    remove(providerId: ProviderId): Effect.Effect<void, StoreUnavailable>
  }
>()("agent-tool-billing/domain/catalog/ImportStore") {}

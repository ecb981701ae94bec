/**
 * What an import or a sync changed, for the provider's history: names and reasons, bounded.
 */
import { sameJson } from "../shared/SameJson.ts"
import type { ImportPlan } from "./ImportPlan.ts"

/** Of each list. */
export const NAMES_RECORDED_MAX = 100

export interface ChangedTool {
  readonly toolName: string
  readonly fields: ReadonlyArray<string>
}

export interface NamedReason {
  readonly toolName: string
  readonly reason: string
}

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

/** Of whole lists: the lists themselves may be shortened. */
export interface ImportCounts {
  readonly created: number
  readonly drafts: number
  readonly changed: number
  readonly restored: number
  readonly missing: number
  readonly withdrawn: number
  readonly rejected: number
}

/** Of a plan that was applied. */
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

/** Whether it belongs in the history: it changed something, or says something that `last` does not. */
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

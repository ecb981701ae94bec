/**
 * What is known of providers' servers, in memory.
 */
import { DateTime, Effect, Layer, Option } from "effect"
import {
  type ImportedTool,
  type ImportRecord,
  ImportStore,
  type SyncState
} from "../../../domain/catalog/ImportStore.ts"
import type { ProviderId } from "../../../domain/shared/Ids.ts"
import { change } from "../shared/MemoryRows.ts"
import { put, remove } from "../shared/MemoryUnitOfWork.ts"

export const layer = Layer.sync(ImportStore, () => {
  const syncs = new Map<ProviderId, SyncState>()
  const imported = new Map<ProviderId, ReadonlyMap<string, ImportedTool>>()
  /** Newest last. */
  const records = new Map<ProviderId, ReadonlyArray<ImportRecord>>()

  const isDue =
    (now: DateTime.Utc) =>
    ([, state]: readonly [ProviderId, SyncState]): boolean =>
      state.enabled && DateTime.isLessThanOrEqualTo(state.nextAt, now)

  return ImportStore.of({
    sync: (providerId) => Effect.sync(() => Option.fromNullishOr(syncs.get(providerId))),

    configure: (providerId, settings, nextAt) =>
      Effect.suspend(() => {
        const known = syncs.get(providerId)
        return put(syncs, providerId, {
          ...settings,
          nextAt: known === undefined ? nextAt : DateTime.min(known.nextAt, nextAt),
          checkedAt: known?.checkedAt,
          problem: known?.problem
        })
      }),

    claimDue: Effect.fnUntraced(function* (now, nextAt, limit) {
      const due = [...syncs]
        .filter(isDue(now))
        .toSorted(([, a], [, b]) => a.nextAt.epochMilliseconds - b.nextAt.epochMilliseconds)
        .slice(0, limit)
      for (const [providerId, state] of due) yield* put(syncs, providerId, { ...state, nextAt })
      return due.map(([providerId]) => providerId)
    }),

    hasten: (providerId, now, afterMs) =>
      Effect.suspend(() => {
        const known = syncs.get(providerId)
        if (known?.enabled !== true) return Effect.void
        const from =
          known.checkedAt === undefined
            ? now
            : DateTime.max(now, DateTime.add(known.checkedAt, { milliseconds: afterMs }))
        return put(syncs, providerId, { ...known, nextAt: DateTime.min(known.nextAt, from) })
      }),

    checked: (providerId, checkedAt, problem) => change(syncs, providerId, { checkedAt, problem }),

    imported: (providerId) => Effect.sync(() => [...(imported.get(providerId)?.values() ?? [])]),

    putImported: (providerId, tools) =>
      Effect.suspend(() => {
        const all = new Map(imported.get(providerId))
        for (const tool of tools) all.set(tool.toolName, tool)
        return put(imported, providerId, all)
      }),

    forgetImported: (providerId, toolNames) =>
      Effect.suspend(() => {
        const all = new Map(imported.get(providerId))
        for (const name of toolNames) all.delete(name)
        return put(imported, providerId, all)
      }),

    addRecord: (providerId, record, keptMax) =>
      Effect.suspend(() => put(records, providerId, [...(records.get(providerId) ?? []), record].slice(-keptMax))),

    records: (providerId, limit) => Effect.sync(() => (records.get(providerId) ?? []).toReversed().slice(0, limit)),

    remove: Effect.fnUntraced(function* (providerId) {
      yield* remove(syncs, providerId)
      yield* remove(imported, providerId)
      yield* remove(records, providerId)
    })
  })
})

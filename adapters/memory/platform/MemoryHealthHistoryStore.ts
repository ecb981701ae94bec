/**
 * The history of health checks in memory.
 */
import { Effect, Layer } from "effect"
import { added, HealthHistoryStore, type HealthSamples } from "../../../domain/platform/HealthHistory.ts"
import { prune } from "../shared/MemoryRows.ts"
import { put } from "../shared/MemoryUnitOfWork.ts"

export const layer = Layer.sync(HealthHistoryStore, () => {
  const rows = new Map<string, HealthSamples>()
  const sorted = () => [...rows].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row)
  return HealthHistoryStore.of({
    add: Effect.fnUntraced(function* (samples) {
      for (const one of samples) {
        const key = `${one.date} ${one.check}`
        const known = rows.get(key)
        yield* put(rows, key, known === undefined ? one : added(known, one))
      }
    }),
    since: (date) => Effect.sync(() => sorted().filter((row) => row.date >= date)),
    prune: (before, limit) =>
      Effect.suspend(() => {
        const old = new Set(
          sorted()
            .filter((row) => row.date < before)
            .slice(0, limit)
        )
        return prune(rows, (row) => old.has(row), limit)
      })
  })
})

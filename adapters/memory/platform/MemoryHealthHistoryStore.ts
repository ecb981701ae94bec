/**
 * The history of health checks in memory.
 */
import { Effect, Layer } from "effect"
import { added } from "../../../domain/platform/HealthHistory.ts"
import { type HealthSamples, HealthHistoryStore } from "../../../domain/platform/HealthHistoryStore.ts"
import { put, write } from "../shared/MemoryUnitOfWork.ts"

export const layer = Layer.sync(HealthHistoryStore, () => {
  const rows = new Map<string, HealthSamples>()
  const sorted = () => [...rows.entries()].toSorted(([a], [b]) => (a < b ? -1 : 1))
  return HealthHistoryStore.of({
    add: Effect.fnUntraced(function* (samples) {
      for (const one of samples) {
        const key = `${one.date} ${one.check}`
        const known = rows.get(key)
        yield* put(rows, key, known === undefined ? one : added(known, one))
      }
    }),
    since: (date) =>
      Effect.sync(() =>
        sorted()
          .map(([, row]) => row)
          .filter((row) => row.date >= date)
      ),
    prune: (before, limit) =>
      Effect.map(
        write(
          () => {
            const old = sorted()
              .filter(([, row]) => row.date < before)
              .slice(0, limit)
            for (const [key] of old) rows.delete(key)
            return old
          },
          (old) => {
            for (const [key, row] of old) rows.set(key, row)
          }
        ),
        (old) => old.length
      )
  })
})

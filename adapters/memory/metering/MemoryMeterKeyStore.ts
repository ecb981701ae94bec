/**
 * Which consumer each key of a provider bills, in memory.
 */
import { Effect, Layer } from "effect"
import { type MeterKey, MeterKeyStore } from "../../../domain/metering/DirectMetering.ts"
import { prune } from "../shared/MemoryRows.ts"

interface Row {
  readonly consumerId: MeterKey["consumerId"]
  readonly bindings: number
  readonly boundAtMs: number
}

export const layer = Layer.sync(MeterKeyStore, () => {
  const rows = new Map<string, Row>()
  return MeterKeyStore.of({
    bind: (key, at) =>
      Effect.sync(() => {
        const { bindings, boundAtMs, consumerId } = rows.get(nameOf(key)) ?? { ...key, bindings: 0, boundAtMs: 0 }
        if (bindings > 0 && consumerId !== key.consumerId) return false
        rows.set(nameOf(key), {
          consumerId: key.consumerId,
          bindings: bindings + 1,
          boundAtMs: Math.max(boundAtMs, at.epochMilliseconds)
        })
        return true
      }),

    release: (key) =>
      Effect.sync(() => {
        const row = rows.get(nameOf(key))
        if (row === undefined || row.consumerId !== key.consumerId || row.bindings === 0) return
        rows.set(nameOf(key), { ...row, bindings: row.bindings - 1 })
      }),

    prune: (before, limit) => prune(rows, ({ boundAtMs }) => boundAtMs < before.epochMilliseconds, limit)
  })
})

const nameOf = ({ keyHash, providerId }: MeterKey): string => `${providerId} ${keyHash}`

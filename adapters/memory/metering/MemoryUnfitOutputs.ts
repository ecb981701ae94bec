/**
 * Paid calls whose output does not match the tool's output schema, in memory.
 */
import { Effect, Layer } from "effect"
import { type UnfitOutput, UnfitOutputs } from "../../../domain/metering/Settlement.ts"
import { prune } from "../shared/MemoryRows.ts"

export const layer = Layer.sync(UnfitOutputs, () => {
  const recordedAtMs = new Map<string, number>()
  return UnfitOutputs.of({
    note: (output, at) =>
      Effect.sync(() => {
        if (!recordedAtMs.has(nameOf(output))) recordedAtMs.set(nameOf(output), at.epochMilliseconds)
      }),

    isRecorded: (output) => Effect.sync(() => recordedAtMs.has(nameOf(output))),

    prune: (before, limit) => prune(recordedAtMs, (atMs) => atMs < before.epochMilliseconds, limit)
  })
})

const nameOf = ({ consumerId, receiptId }: UnfitOutput): string => `${consumerId} ${receiptId}`

/**
 * Paid calls whose output does not match the tool's output schema, in memory.
 */
import { Effect, Layer } from "effect"
import { type UnfitOutput, UnfitOutputs } from "../../../domain/metering/UnfitOutputs.ts"

export const layer = Layer.sync(UnfitOutputs, () => {
  const notedAtMs = new Map<string, number>()
  return UnfitOutputs.of({
    note: (output, at) =>
      Effect.sync(() => {
        if (!notedAtMs.has(nameOf(output))) notedAtMs.set(nameOf(output), at.epochMilliseconds)
      }),

    isNoted: (output) => Effect.sync(() => notedAtMs.has(nameOf(output))),

    prune: (before, limit) =>
      Effect.sync(() => {
        let pruned = 0
        for (const [name, atMs] of notedAtMs) {
          if (pruned === limit) break
          if (atMs < before.epochMilliseconds && notedAtMs.delete(name)) pruned++
        }
        return pruned
      })
  })
})

const nameOf = ({ consumerId, receiptId }: UnfitOutput): string => `${consumerId} ${receiptId}`

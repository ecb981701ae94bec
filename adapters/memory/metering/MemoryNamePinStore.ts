/**
 * Pinned tool names in memory.
 */
import { Effect, Layer } from "effect"
import { NamePinStore, type PinFound } from "../../../domain/metering/ToolDirectory.ts"
import type { ConsumerId, ToolId } from "../../../domain/shared/Ids.ts"
import { remove } from "../shared/MemoryUnitOfWork.ts"

export const layer = Layer.sync(NamePinStore, () => {
  const pins = new Map<ConsumerId, Map<string, ToolId>>()

  const ofConsumer = (consumerId: ConsumerId): Map<string, ToolId> => {
    const known = pins.get(consumerId) ?? new Map<string, ToolId>()
    pins.set(consumerId, known)
    return known
  }

  return NamePinStore.of({
    find: (consumerId, toolName, pinsMax) =>
      Effect.sync((): PinFound => {
        const theirs = pins.get(consumerId)
        const toolId = theirs?.get(toolName)
        if (toolId !== undefined) return { _tag: "Pinned", toolId }
        return { _tag: theirs !== undefined && theirs.size >= pinsMax ? "Full" : "Free" }
      }),

    pin: ({ consumerId, toolId, toolName }) =>
      Effect.sync(() => {
        const theirs = ofConsumer(consumerId)
        const known = theirs.get(toolName)
        if (known === undefined) theirs.set(toolName, toolId)
        return known ?? toolId
      }),

    removeAll: (consumerId) => remove(pins, consumerId)
  })
})

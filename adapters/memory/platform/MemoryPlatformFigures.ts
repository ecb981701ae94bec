/**
 * Counts over the whole platform, in memory.
 */
import { DateTime, Effect, Layer } from "effect"
import { PlatformFigures } from "../../../domain/platform/PlatformStats.ts"
import { format } from "../../../domain/shared/Time.ts"
import { MemoryLedger } from "../ledger/MemoryLedger.ts"
import { MemoryTables } from "../shared/MemoryTables.ts"

export const layer = Layer.effect(
  PlatformFigures,
  Effect.gen(function* () {
    const { consumers, providers, tools } = yield* MemoryTables
    const { closedCalls } = yield* MemoryLedger
    return PlatformFigures.of({
      count: (since) =>
        Effect.sync(() => {
          if (since === undefined) {
            return {
              providers: providers.size,
              consumers: consumers.size,
              tools: [...tools.values()].filter(
                ({ tool }) => tool.withdrawnAt === undefined && providers.get(tool.providerId)?.frozen === undefined
              ).length,
              invocations: closedCalls.size
            }
          }
          const isNew = (row: { readonly createdAt: DateTime.Utc }) =>
            DateTime.isGreaterThanOrEqualTo(row.createdAt, since)
          const hour = format(since)
          return {
            providers: [...providers.values()].filter(isNew).length,
            consumers: [...consumers.values()].filter(isNew).length,
            tools: [...tools.values()].filter(({ tool }) => isNew(tool)).length,
            invocations: [...closedCalls.values()].filter(({ receipt }) => receipt.timestamp >= hour).length
          }
        })
    })
  })
)

/**
 * Figures of the market in memory.
 */
import { Effect, Layer } from "effect"
import { MarketFigures } from "../../domain/catalog/MarketFigures.ts"

export const layer = Layer.succeed(
  MarketFigures,
  MarketFigures.of({
    ofTools: () => Effect.succeed(new Map()),
    totals: Effect.succeed({
      invocations: 0,
      successful: 0,
      uniqueAgents: 0,
      uniqueTools: 0,
      revenueMicrocents: 0n,
      avgLatencyMs: undefined,
      freeCalls: 0,
      lastInvocation: undefined
    })
  })
)

/**
 * Market figures in memory, computed from the single calls.
 */
import { Effect, Layer } from "effect"
import { MarketFigures } from "../../../domain/catalog/MarketFigures.ts"
import type { ToolId } from "../../../domain/shared/Ids.ts"
import { type CallCounts, figuresOf } from "../../../domain/trust/Sla.ts"
import { type ClosedCallRow, MemoryLedger } from "../ledger/MemoryLedger.ts"
import { MemoryTables } from "../shared/MemoryTables.ts"
import { isSelfDealing } from "../trust/MemorySlaStore.ts"

export const layer = Layer.effect(
  MarketFigures,
  Effect.gen(function* () {
    const ledger = yield* MemoryLedger
    const tables = yield* MemoryTables

    const isCounted = ({ cause, origin, receipt }: ClosedCallRow): boolean =>
      origin === "meter" ||
      (cause !== "canceled" &&
        !isSelfDealing(tables, { providerId: receipt.provider_id, consumerId: receipt.agent_id }))

    return MarketFigures.of({
      ofTools: (ids) =>
        Effect.sync(() => {
          const asked = new Set<ToolId>(ids)
          const calls = [...ledger.closedCalls.values()].filter(
            (call) => asked.has(call.receipt.tool_id) && isCounted(call)
          )
          return new Map(
            [...Map.groupBy(calls, ({ receipt }) => receipt.tool_id)].map(([id, ofTool]) => [
              id,
              figuresOf(countsOf(ofTool))
            ])
          )
        }),
      totals: Effect.sync(() => {
        const calls = [...ledger.closedCalls.values()]
        const counted = calls.filter(isCounted)
        const proxied = counted.filter(isProxied)
        const counts = countsOf(counted)
        const figures = figuresOf(counts)
        return {
          invocations: counts.calls,
          successful: counts.successes,
          successPct: figures.uptimePct,
          reported: counts.reported,
          uniqueAgents: new Set(proxied.map((call) => call.consumerId)).size,
          uniqueTools: new Set(proxied.map(({ receipt }) => receipt.tool_id)).size,
          revenueMicrocents: calls.reduce((sum, { receipt }) => sum + receipt.cost_microcents, 0n),
          avgLatencyMs: figures.avgLatencyMs,
          freeCalls: proxied.filter(({ isFreeCall }) => isFreeCall).length,
          lastInvocation: proxied
            .map(({ receipt }) => receipt.timestamp)
            .toSorted()
            .at(-1)
        }
      })
    })
  })
)

const isProxied = ({ origin }: ClosedCallRow): boolean => origin === "proxy"

const countsOf = (calls: ReadonlyArray<ClosedCallRow>): CallCounts => {
  const proxied = calls.filter(isProxied)
  const timed = proxied.filter(({ cause }) => cause !== "input_rejected")
  return {
    calls: proxied.length,
    successes: proxied.filter(({ receipt }) => receipt.status === "success").length,
    inputRejected: proxied.length - timed.length,
    latencyMs: timed.reduce((sum, { receipt }) => sum + receipt.duration_ms, 0),
    reported: calls.length - proxied.length
  }
}

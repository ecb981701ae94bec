/**
 * Figures of the market in memory: counted from the calls one by one.
 */
import { Effect, Layer } from "effect"
import { MarketFigures, type ToolFigures } from "../../domain/catalog/MarketFigures.ts"
import type { ToolId } from "../../domain/shared/Ids.ts"
import { type ClosedCallRow, MemoryLedger } from "./MemoryLedger.ts"

export const layer = Layer.effect(
  MarketFigures,
  Effect.map(MemoryLedger, (ledger) =>
    MarketFigures.of({
      ofTools: (ids) =>
        Effect.sync(() => {
          const asked = new Set<ToolId>(ids)
          const calls = [...ledger.closedCalls.values()].filter(({ receipt }) => asked.has(receipt.tool_id))
          return new Map(
            [...Map.groupBy(calls, ({ receipt }) => receipt.tool_id)].map(([id, ofTool]) => [id, figuresOf(ofTool)])
          )
        }),
      totals: Effect.sync(() => {
        const calls = [...ledger.closedCalls.values()]
        return {
          invocations: calls.length,
          successful: successes(calls),
          uniqueAgents: new Set(calls.map((call) => call.consumerId)).size,
          uniqueTools: new Set(calls.map(({ receipt }) => receipt.tool_id)).size,
          revenueMicrocents: calls.reduce((sum, { receipt }) => sum + receipt.cost_microcents, 0n),
          avgLatencyMs: calls.length === 0 ? undefined : average(calls),
          freeCalls: [...ledger.freeCallsUsed.values()].reduce((sum, used) => sum + used, 0),
          lastInvocation: calls.reduce(newer, undefined)?.receipt.timestamp
        }
      })
    })
  )
)

const newer = (newest: ClosedCallRow | undefined, call: ClosedCallRow): ClosedCallRow =>
  newest !== undefined && newest.receipt.receipt_id > call.receipt.receipt_id ? newest : call

const successes = (calls: ReadonlyArray<ClosedCallRow>): number =>
  calls.filter(({ receipt }) => receipt.status === "success").length

const average = (calls: ReadonlyArray<ClosedCallRow>): number =>
  Math.floor(calls.reduce((sum, { receipt }) => sum + receipt.duration_ms, 0) / calls.length)

const figuresOf = (calls: ReadonlyArray<ClosedCallRow>): ToolFigures => ({
  totalCalls: calls.length,
  avgLatencyMs: average(calls),
  uptimePct: Math.round((successes(calls) / calls.length) * 10_000) / 100
})

/**
 * Usage in memory: summed from the calls one by one.
 */
import { type DateTime, Effect, Layer } from "effect"
import {
  TOOLS_SHOWN_MAX,
  type UsageCall,
  type UsageOfDay,
  type UsageOfTool,
  UsageStore,
  type UsageSums
} from "../../domain/metering/Usage.ts"
import type { ReceiptOwner } from "../../domain/receipts/ReceiptStore.ts"
import { format } from "../../domain/shared/Timestamp.ts"
import { type ClosedCallRow, MemoryLedger } from "./MemoryLedger.ts"
import { callsOf, newestPage } from "./MemoryReceipts.ts"

export const layer = Layer.effect(
  UsageStore,
  Effect.gen(function*() {
    const ledger = yield* MemoryLedger

    const since = (owner: ReceiptOwner, start: DateTime.Utc) =>
      callsOf(ledger, owner).filter(({ receipt }) => receipt.timestamp >= format(start))

    return UsageStore.of({
      calls: (owner, filter, page) =>
        Effect.sync(() =>
          newestPage(
            since(owner, filter.since).filter(({ receipt }) =>
              (filter.toolId === undefined || receipt.tool_id === filter.toolId) &&
              (filter.status === undefined || receipt.status === filter.status)
            ),
            page,
            toCall
          )
        ),
      sums: (owner, start) => Effect.sync(() => sumsOf(since(owner, start))),
      byTool: (owner, start) =>
        Effect.sync(() =>
          [...Map.groupBy(since(owner, start), ({ receipt }) => receipt.tool_id)]
            .map(([toolId, calls]): UsageOfTool => ({
              ...sumsOf(calls),
              toolId,
              toolName: calls.at(-1)!.receipt.tool_name
            }))
            .toSorted((a, b) => b.calls - a.calls || (a.toolId < b.toolId ? -1 : 1))
            .slice(0, TOOLS_SHOWN_MAX)
        ),
      byDay: (owner, start) =>
        Effect.sync(() =>
          [...Map.groupBy(since(owner, start), ({ receipt }) => receipt.timestamp.slice(0, 10))]
            .map(([date, calls]): UsageOfDay => {
              const sums = sumsOf(calls)
              return { date, calls: sums.calls, errors: sums.calls - sums.successes, spendMicrocents: sums.spendMicrocents }
            })
            .toSorted((a, b) => (a.date < b.date ? -1 : 1))
        )
    })
  })
)

const sumsOf = (calls: ReadonlyArray<ClosedCallRow>): UsageSums => ({
  calls: calls.length,
  successes: calls.filter(({ receipt }) => receipt.status === "success").length,
  spendMicrocents: total(calls, ({ receipt }) => receipt.cost_microcents),
  latencyMs: total(calls, ({ receipt }) => BigInt(receipt.duration_ms)),
  requestBytes: total(calls, (call) => BigInt(call.requestBytes)),
  responseBytes: total(calls, (call) => BigInt(call.responseBytes)),
  tokensInput: total(calls, (call) => BigInt(call.tokensInput)),
  tokensOutput: total(calls, (call) => BigInt(call.tokensOutput))
})

const total = (calls: ReadonlyArray<ClosedCallRow>, of: (call: ClosedCallRow) => bigint): bigint =>
  calls.reduce((sum, call) => sum + of(call), 0n)

const toCall = ({ receipt }: ClosedCallRow): UsageCall => ({
  receiptId: receipt.receipt_id,
  toolId: receipt.tool_id,
  toolName: receipt.tool_name,
  status: receipt.status,
  costMicrocents: receipt.cost_microcents,
  durationMs: receipt.duration_ms,
  calledAt: receipt.timestamp
})

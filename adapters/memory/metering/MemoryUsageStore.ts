/**
 * Usage in memory, computed from the single calls.
 */
import { type DateTime, Effect, Layer } from "effect"
import {
  sumUp,
  type UsageCall,
  type UsageOfToolDay,
  UsageStore,
  type UsageTotals
} from "../../../domain/metering/Usage.ts"
import type { ReceiptOwner } from "../../../domain/receipts/Receipts.ts"
import { format } from "../../../domain/shared/Time.ts"
import { type ClosedCallRow, MemoryLedger } from "../ledger/MemoryLedger.ts"
import { callsOf, newestPage } from "../receipts/MemoryReceipts.ts"

export const layer = Layer.effect(
  UsageStore,
  Effect.gen(function* () {
    const ledger = yield* MemoryLedger

    const since = (owner: ReceiptOwner, start: DateTime.Utc) =>
      callsOf(ledger, owner).filter(({ receipt }) => receipt.timestamp >= format(start))

    return UsageStore.of({
      recent: (owner, filter, page) =>
        Effect.sync(() => {
          const all = since(owner, filter.since)
          const asked = all.filter(
            ({ receipt }) =>
              (filter.toolId === undefined || receipt.tool_id === filter.toolId) &&
              (filter.status === undefined || receipt.status === filter.status)
          )
          return { totals: sumUp(all.map(ofCall)), calls: newestPage(asked, page, toCall) }
        }),
      byToolAndDay: (owner, start) =>
        Effect.sync(() =>
          [...Map.groupBy(since(owner, start), toolAndDay).values()].map((calls): UsageOfToolDay => {
            const { receipt } = calls[0]!
            const { timestamp, tool_id: toolId, tool_name: toolName } = receipt
            return { ...sumUp(calls.map(ofCall)), toolId, toolName, date: timestamp.slice(0, 10) }
          })
        ),
      // Usage is computed from the calls: there is nothing to roll up or to count.
      rollUp: () => Effect.succeed(0),
      countWaiting: () => Effect.succeed(0)
    })
  })
)

const ofCall = ({ receipt, ...call }: ClosedCallRow): UsageTotals => ({
  calls: 1,
  successes: receipt.status === "success" ? 1 : 0,
  spendMicrocents: receipt.cost_microcents,
  feeMicrocents: call.fee,
  latencyMs: BigInt(receipt.duration_ms),
  requestBytes: BigInt(call.requestBytes ?? 0),
  responseBytes: BigInt(call.responseBytes ?? 0),
  tokensInput: BigInt(call.tokensInput ?? 0),
  tokensOutput: BigInt(call.tokensOutput ?? 0)
})

const toolAndDay = ({ receipt }: ClosedCallRow): string => `${receipt.tool_id} ${receipt.timestamp.slice(0, 10)}`

const toCall = ({ receipt }: ClosedCallRow): UsageCall => ({
  receiptId: receipt.receipt_id,
  toolId: receipt.tool_id,
  toolName: receipt.tool_name,
  status: receipt.status,
  costMicrocents: receipt.cost_microcents,
  durationMs: receipt.duration_ms,
  calledAt: receipt.timestamp
})

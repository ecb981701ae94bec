/**
 * Spending of a consumer's calls per lot, in memory.
 */
import { DateTime, Effect, Layer } from "effect"
import { lotDayOf } from "../../../domain/ledger/Transfer.ts"
import { type EarnedFrom, SpendingByLot } from "../../../domain/payments/SpendingByLot.ts"
import { MemoryLedger } from "../ledger/MemoryLedger.ts"

export const layer = Layer.effect(
  SpendingByLot,
  Effect.map(MemoryLedger, (ledger) =>
    SpendingByLot.of({
      since: (consumerId, settledFrom, without) =>
        Effect.sync(() => {
          const left = new Set(without)
          const totals = new Map<string, EarnedFrom>()
          for (const { fee, receipt } of ledger.closedCallsOf.get(consumerId) ?? []) {
            const settledAt = DateTime.makeUnsafe(receipt.created_at)
            const net = receipt.cost_microcents - fee
            const isOwn = receipt.agent_id === consumerId && !left.has(receipt.receipt_id)
            if (!isOwn || net <= 0n || DateTime.isLessThan(settledAt, settledFrom)) continue
            const [providerId, day] = [receipt.provider_id, lotDayOf(settledAt)]
            const key = `${day} ${providerId}`
            totals.set(key, { providerId, day, net: (totals.get(key)?.net ?? 0n) + net })
          }
          return [...totals].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, earned]) => earned)
        })
    })
  )
)

/**
 * Splits of wallets into paid funds and credit, in memory.
 */
import { DateTime, Effect, Layer } from "effect"
import {
  bringsCredit,
  PaidFunds,
  paidPartAt,
  splitAfter,
  splitAt,
  splitConsumers
} from "../../../domain/ledger/PaidFunds.ts"
import type { Posting } from "../../../domain/ledger/Transfer.ts"
import type { ConsumerId } from "../../../domain/shared/Ids.ts"
import { type ClosedCallRow, MemoryLedger, walletOf } from "./MemoryLedger.ts"

type State = MemoryLedger["Service"]

export const layer = Layer.effect(
  PaidFunds,
  Effect.map(MemoryLedger, (state) =>
    PaidFunds.of({
      paid: (consumerId) => Effect.sync(() => lastSplit(state, consumerId).paid),
      paidOf: ({ consumerId, cost, receiptId }) =>
        Effect.sync(() => {
          const splits = state.splits.get(consumerId) ?? []
          if (splits.length === 0) return cost
          const call = state.closedCalls.get(receiptId)
          if (call === undefined) return 0n
          const since = (state.closedCallsOf.get(consumerId) ?? [])
            .filter((other) => other.receipt.agent_id === consumerId && !settledBefore(other, call))
            .reduce((sum, { receipt }) => sum + receipt.cost_microcents, 0n)
          const start = lastSplit(state, consumerId).spent - since
          const first = splits.findLastIndex(({ spent }) => spent <= start)
          return paidPartAt({ start, splits: splits.slice(Math.max(0, first)) }, cost)
        })
    })
  )
)

/** After the posting. Returns the splits before, to be restored if it is undone. */
export const recordSplits = (state: State, posting: Posting) => {
  const changed = new Map<ConsumerId, State["splits"] extends Map<ConsumerId, infer Splits> ? Splits : never>()
  for (const consumerId of splitConsumers(posting)) {
    const before = state.splits.get(consumerId) ?? []
    if (before.length === 0 && !bringsCredit(consumerId, posting)) continue
    changed.set(consumerId, before)
    state.splits.set(consumerId, [
      ...before,
      splitAfter(before.at(-1), balanceIn(state, consumerId), consumerId, posting)
    ])
  }
  return changed
}

const lastSplit = (state: State, consumerId: ConsumerId) =>
  splitAt(state.splits.get(consumerId)?.at(-1), balanceIn(state, consumerId))

const balanceIn = (state: State, consumerId: ConsumerId): bigint => {
  const { credits, debits } = walletOf(state, consumerId)
  return credits - debits
}

/** In the order in which PostgreSQL compares them. */
const settledBefore = ({ receipt: one }: ClosedCallRow, { receipt: other }: ClosedCallRow): boolean => {
  const [a, b] = [DateTime.makeUnsafe(one.created_at), DateTime.makeUnsafe(other.created_at)]
  return DateTime.isLessThan(a, b) || (DateTime.Equivalence(a, b) && one.receipt_id < other.receipt_id)
}

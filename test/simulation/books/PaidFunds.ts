/**
 * Credit is not withdrawn: with what a consumer spent before its first credit, which was all paid, it withdraws at most what
 * it loaded. Counted from receipts and at the processor.
 */
import { Context, Effect, Option } from "effect"
import type { ReceiptId } from "../../../domain/shared/Ids.ts"
import { DisputeStore } from "../../../domain/trust/DisputeStore.ts"
import { wrong } from "../world/Asking.ts"
import { makeProcessorBooks } from "./ProcessorBooks.ts"
import type { World } from "../world/World.ts"

export const makePaidFundsCheck = (world: World) => {
  const { facts, processor, stores } = world
  const disputes = Context.get(stores, DisputeStore)
  const books = makeProcessorBooks(world)
  const spent = new Map<string, Map<ReceiptId, bigint>>()
  let counted = 0

  const refunded = Effect.gen(function* () {
    const ids = new Set<ReceiptId>()
    for (const id of facts.disputes) {
      const dispute = Option.getOrUndefined(yield* disputes.find(id))
      if (dispute?.status === "resolved_refund") ids.add(dispute.receiptId)
    }
    return ids
  })

  return Effect.gen(function* () {
    for (const { agent_id, cost_microcents, receipt_id } of [...facts.receipts.values()].slice(counted)) {
      if (facts.credited.has(agent_id)) continue
      const own = spent.get(agent_id) ?? new Map<ReceiptId, bigint>()
      spent.set(agent_id, own.set(receipt_id, cost_microcents))
    }
    counted = facts.receipts.size
    for (const consumerId of new Set([...processor.refunds.values()].map(({ ordered }) => ordered.consumerId))) {
      const isOwn = (id: string) => id === consumerId
      // What a bank returned, credit may have paid.
      if (books.everGoneBack(isOwn) > 0n) continue
      const [loaded, withdrawn] = [books.loaded(isOwn), books.withdrawn(isOwn)]
      const calls = spent.get(consumerId) ?? new Map<ReceiptId, bigint>()
      const total = (without: ReadonlySet<ReceiptId>) =>
        [...calls].reduce((sum, [id, cost]) => (without.has(id) ? sum : sum + cost), 0n)
      if (withdrawn + total(new Set()) <= loaded) continue
      const paid = total(yield* refunded)
      if (withdrawn + paid > loaded) {
        return yield* wrong(
          "credit is not withdrawn",
          `${consumerId} loaded ${loaded}, spent ${paid} of it and withdrew ${withdrawn}`
        )
      }
    }
  })
}

/**
 * No call is recovered twice: not by the bank and by a dispute. No consumer is refunded more of a load than it paid, nor
 * from a frozen account.
 */
import { Context, DateTime, Effect, Option } from "effect"
import { LoadStore } from "../../../domain/payments/Loads.ts"
import { type Dispute, type DisputeId, DisputeStore } from "../../../domain/trust/DisputeStore.ts"
import { wrong } from "../world/Asking.ts"
import type { GoneBack } from "../parts/Processor.ts"
import type { World } from "../world/World.ts"

export const makeRecoveryCheck = ({ facts, processor, stores }: World) => {
  const loads = Context.get(stores, LoadStore)
  const disputes = Context.get(stores, DisputeStore)
  const decided = new Set<DisputeId>()
  /** Chargebacks that had the money at the last look, as the service knew. */
  let before: ReadonlyArray<GoneBack> = []
  let refundsSeen = 0

  const isHeld = ({ cause, returnedBy, takenBy }: GoneBack): boolean =>
    cause === "dispute" && returnedBy === undefined && processor.acknowledgedAtMs.has(takenBy)

  const covers = Effect.fnUntraced(function* ({ consumerId, loadId }: GoneBack, dispute: Dispute) {
    const settledAt = facts.receipts.get(dispute.receiptId)?.created_at
    const creditedAt = Option.getOrUndefined(yield* loads.find(loadId))?.paidAt
    if (dispute.consumerId !== consumerId || settledAt === undefined || creditedAt === undefined) return false
    return DateTime.isGreaterThanOrEqualTo(DateTime.makeUnsafe(settledAt), creditedAt)
  })

  const disputesAreDenied = Effect.gen(function* () {
    for (const id of facts.disputes) {
      const dispute = decided.has(id) ? undefined : Option.getOrUndefined(yield* disputes.find(id))
      if (dispute?.decision === undefined) continue
      decided.add(id)
      if (dispute.status !== "resolved_refund" || dispute.cost === 0n) continue
      for (const gone of before) {
        if (!isHeld(gone) || !(yield* covers(gone, dispute))) continue
        return yield* wrong("no call is recovered twice", `${id} was refunded, and its payment by ${gone.id}`)
      }
    }
    before = [...processor.goneBack.values()].filter(isHeld)
  })

  const refundsAreOfLoads = Effect.suspend(() => {
    const [overdrawn] = processor.overdrawn
    if (overdrawn !== undefined) return wrong("no consumer withdraws more than it loaded", overdrawn)
    const fresh = [...processor.refunds.values()].slice(refundsSeen)
    refundsSeen += fresh.length
    for (const { madeAtMs, ordered, partId } of fresh) {
      for (const { endedAtMs = Infinity, openedBy, ordered: disputed } of processor.chargebacks.values()) {
        const knownAtMs = processor.acknowledgedAtMs.get(openedBy) ?? Infinity
        if (disputed.consumerId !== ordered.consumerId || madeAtMs >= endedAtMs) continue
        if (madeAtMs > knownAtMs + LATE_MS) {
          return wrong("a chargeback freezes", `${partId} was refunded after the chargeback of ${ordered.consumerId}`)
        }
      }
    }
    return Effect.void
  })

  return Effect.andThen(disputesAreDenied, refundsAreOfLoads)
}

/** An order may have been on its way. */
const LATE_MS = 5 * 60_000

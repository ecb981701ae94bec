/**
 * Money in and out by the processor's records. Incoming money counts from when the service may know of it, outgoing money
 * from when it must, so pending amounts violate no rule.
 */
import { Context, Effect, Option } from "effect"
import { PayoutStore } from "../../../domain/earnings/PayoutStore.ts"
import { isOpenPart, WithdrawalStore } from "../../../domain/payments/Withdrawals.ts"
import type { GoneBack, MadeRefund } from "../parts/Processor.ts"
import type { World } from "../world/World.ts"

const CENT = 10_000n

export const makeProcessorBooks = ({ facts, processor, stores }: World) => {
  const payouts = Context.get(stores, PayoutStore)
  const withdrawals = Context.get(stores, WithdrawalStore)

  const toMicrocents = (cents: number): bigint => BigInt(cents) * CENT

  const isOut = (gone: GoneBack): boolean =>
    processor.acknowledgedAtMs.has(gone.takenBy) &&
    !(gone.returnedBy !== undefined && processor.heard.has(gone.returnedBy))

  const sumOf = <A>(items: Iterable<A>, cents: (item: A) => number): bigint => {
    let sum = 0
    for (const item of items) sum += cents(item)
    return toMicrocents(sum)
  }

  /** What came in. */
  const loaded = (isWhose: (id: string) => boolean): bigint =>
    sumOf(processor.checkouts.values(), ({ amountCents, consumerId, sessionId }) =>
      processor.knownPaid.has(sessionId) && isWhose(consumerId) ? amountCents : 0
    )

  const goneBack = (isWhose: (id: string) => boolean): bigint =>
    sumOf(processor.goneBack.values(), (gone) => (isOut(gone) && isWhose(gone.consumerId) ? gone.amountCents : 0))

  /** What the payer could not be given is there again once the service heard so. */
  const isWithdrawn = ({ returnedBy }: MadeRefund): boolean =>
    returnedBy === undefined || !processor.heard.has(returnedBy)

  const withdrawn = (isWhose: (id: string) => boolean): bigint =>
    sumOf(processor.refunds.values(), (made) =>
      isWithdrawn(made) && isWhose(made.ordered.consumerId) ? made.amountCents : 0
    )

  const openParts = Effect.gen(function* () {
    let sum = 0
    for (const id of facts.withdrawals) {
      for (const part of Option.getOrUndefined(yield* withdrawals.find(id))?.parts ?? []) {
        const made = processor.refunds.get(part.id)
        if (made !== undefined && isOpenPart(part) && isWithdrawn(made)) sum += made.amountCents
      }
    }
    return sum
  })

  const paidOut = (isWhose: (id: string) => boolean): bigint =>
    sumOf(processor.transfers.values(), ({ accountId, amountCents, reversedCents }) =>
      isWhose(accountId.slice("acct_".length)) ? amountCents - reversedCents : 0
    )

  const anybody = () => true

  return {
    loaded,
    goneBack,
    paidOut,
    withdrawn,
    /** Before what the processor kept for itself. */
    net: () => loaded(anybody) - goneBack(anybody) - withdrawn(anybody) - paidOut(anybody),
    /** Whether or not the service knows, and whether or not it came again. */
    everGoneBack: (isWhose: (id: string) => boolean): bigint =>
      sumOf(processor.goneBack.values(), (gone) => (isWhose(gone.consumerId) ? gone.amountCents : 0)),
    /** Paid out or refunded, while the service has not heard so: it still keeps the money for it. */
    outUnknown: Effect.gen(function* () {
      let sum = yield* openParts
      for (const id of facts.payouts) {
        const made = processor.transfers.get(id)
        if (made === undefined || processor.knownTransfers.has(id)) continue
        const payout = Option.getOrUndefined(yield* payouts.find(id))
        if (payout?.state === "requested" || payout?.state === "transferring") sum += made.amountCents
        else processor.knownTransfers.add(id)
      }
      return toMicrocents(sum)
    })
  }
}

export type ProcessorBooks = ReturnType<typeof makeProcessorBooks>

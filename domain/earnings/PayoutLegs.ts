/**
 * The ledger movements of a payout, step by step. It takes available money lot by lot; returned money goes to the same
 * lots.
 */
import type { LotPart } from "../ledger/Lots.ts"
import type { Leg, Transfer } from "../ledger/Transfer.ts"
import type { PayoutId, ProviderId } from "../shared/Ids.ts"
import { Microcents } from "../shared/Microcents.ts"

export const payoutReference = (id: PayoutId): string => `payout:${id}`

/** Out of the provider's lots, until the processor has responded. */
export const reservingLegs = (providerId: ProviderId, parts: ReadonlyArray<LotPart>): ReadonlyArray<Leg> =>
  parts.map(({ amount, day }) => ({
    kind: "payout",
    debit: "provider",
    credit: "payout_clearing",
    providerId,
    lot: day,
    amount: Microcents.make(amount)
  }))

export const paidLeg = (providerId: ProviderId, amount: Microcents): Leg => ({
  kind: "payout",
  debit: "payout_clearing",
  credit: "processor",
  providerId,
  amount
})

/**
 * The part from `start` to `end` of what was reserved, returned to its lots. Of a payout of 10 that took 7 and 3 from
 * two lots, the part from 5 to 10 returns 2 to the first one and 3 to the second.
 */
export const returningLegs = (
  reserved: ReadonlyArray<Transfer>,
  from: "payout_clearing" | "processor",
  { start, end }: { readonly start: bigint; readonly end: bigint }
): ReadonlyArray<Leg> => {
  let at = 0n
  return reserved.flatMap(({ amount, lot, providerId }): ReadonlyArray<Leg> => {
    const [first, last] = [at > start ? at : start, at + amount < end ? at + amount : end]
    at += amount
    if (last <= first) return []
    return [{ kind: "payout", debit: from, credit: "provider", providerId, lot, amount: Microcents.make(last - first) }]
  })
}

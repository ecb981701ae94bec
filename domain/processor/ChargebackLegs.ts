/**
 * The legs of a chargeback, as pure functions: unspent funds first, then earnings that are liable for it, then the
 * consumer's debt, which is a recorded loss. A reinstatement reverses them.
 */
import type { Lot } from "../ledger/Lots.ts"
import type { ConsumerFunds } from "../ledger/LedgerStore.ts"
import { intoWallet, legsOf } from "../ledger/Movements.ts"
import type { Leg, Transfer } from "../ledger/Transfer.ts"
import type { ConsumerId, ProviderId } from "../shared/Ids.ts"
import { Microcents } from "../shared/Microcents.ts"

/** Maturing earnings from this consumer since the load. */
export interface LiablePart {
  readonly providerId: ProviderId
  readonly day: Lot["day"]
  readonly amount: bigint
}

/** A posting has a bounded number of legs; what further parts would bring becomes the consumer's debt. */
export const LIABLE_PARTS_MAX = 400

export const withdrawnLegs = (
  consumerId: ConsumerId,
  amount: bigint,
  { availableMicrocents }: ConsumerFunds,
  liable: ReadonlyArray<LiablePart>
): ReadonlyArray<Leg> => {
  const into = { kind: "dispute", consumerId, credit: "dispute_clearing" } as const
  const unspent = least(amount, availableMicrocents)
  let left = amount - unspent
  const recovered = liable.slice(0, LIABLE_PARTS_MAX).map((part): Leg => {
    const taken = least(left, part.amount)
    left -= taken
    return { ...into, debit: "provider", providerId: part.providerId, lot: part.day, amount: Microcents.make(taken) }
  })
  return [
    ...legsOf({ ...into, debit: "wallet", amount: Microcents.make(unspent) }, ...recovered),
    ...legsOf({ ...into, debit: "consumer_debt", amount: Microcents.make(left) }),
    { kind: "dispute", consumerId, debit: "dispute_clearing", credit: "processor", amount: Microcents.make(amount) }
  ]
}

/** Every leg of the withdrawal in reverse. If the debt was paid meanwhile, the amount goes to the wallet. */
export const reinstatedLegs = (
  consumerId: ConsumerId,
  withdrawn: ReadonlyArray<Transfer>,
  funds: ConsumerFunds
): ReadonlyArray<Leg> => {
  const taken = withdrawn.filter(({ credit }) => credit === "dispute_clearing")
  const total = taken.reduce((sum, { amount }) => sum + amount, 0n)
  const ofProviders = taken.filter(({ debit }) => debit === "provider")
  const own = total - ofProviders.reduce((sum, { amount }) => sum + amount, 0n)
  const from = { kind: "dispute", consumerId, debit: "dispute_clearing" } as const
  return [
    { kind: "dispute", consumerId, debit: "processor", credit: "dispute_clearing", amount: Microcents.make(total) },
    ...ofProviders.map(({ amount, lot, providerId }): Leg => ({
      ...from,
      credit: "provider",
      providerId,
      lot,
      amount
    })),
    ...intoWallet([{ ...from, amount: Microcents.make(own) }], funds)
  ]
}

const least = (a: bigint, b: bigint): bigint => (a < b ? a : b)

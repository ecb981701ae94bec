/**
 * Pure rules for linked transfers: whether a posting is valid, its effect on each account, and whether it repeats the
 * posting of its reference.
 */
import { type AccountKind, MARKET_OWNER, mayBeOverdrawn } from "./Account.ts"
import type { Leg, Transfer } from "./Transfer.ts"

/** Two legs per lot, and a few more: see LOTS_PER_POSTING_MAX. */
export const LEGS_MAX = 1_000
export const REFERENCE_CHARS_MAX = 200

/** The effect of a posting on one account. */
export interface AccountChange {
  readonly account: AccountKind
  readonly ownerId: string
  /** Of a provider's account: the settlement day. */
  readonly lot: string | undefined
  readonly credits: bigint
  readonly debits: bigint
}

/** Rejected if it leaves the account or lot below zero. */
export const isBounded = ({ account, credits, debits }: AccountChange): boolean =>
  debits > credits && !mayBeOverdrawn(account)

/** Why the posting is rejected; undefined if it is valid. */
export const faultOf = (posting: {
  readonly reference: string
  readonly legs: ReadonlyArray<Leg>
}): string | undefined => {
  if (posting.reference.length === 0 || posting.reference.length > REFERENCE_CHARS_MAX) {
    return `A reference has 1 to ${REFERENCE_CHARS_MAX} characters`
  }
  if (posting.legs.length === 0 || posting.legs.length > LEGS_MAX) return `A posting has 1 to ${LEGS_MAX} transfers`
  for (const leg of posting.legs) {
    if (leg.kind === "call" || leg.kind === "fee") return "The transfers of a call follow from its receipt"
    if (leg.amount <= 0n) return "The amount of a transfer must be above 0"
    if (leg.debit === leg.credit) return `A transfer needs two different accounts; both are ${leg.debit}`
    for (const account of [leg.debit, leg.credit]) {
      if ((account === "wallet" || account === "consumer_debt") && leg.consumerId === undefined) {
        return "A transfer to or from a wallet or a debt must name its consumer"
      }
      if ((account === "provider" || account === "provider_frozen") && leg.providerId === undefined) {
        return "A transfer to or from a provider's account must name the provider"
      }
      if (account === "provider" && (leg.lot === undefined || !DAY.test(leg.lot))) {
        return "A transfer to or from a provider's account must name the settlement day of its lot"
      }
    }
  }
  return undefined
}

const DAY = /^\d{4}-\d{2}-\d{2}$/u

/** One change per account and lot, in the order in which they are locked: by owner, account and lot. */
export const changesOf = (legs: ReadonlyArray<Leg>): ReadonlyArray<AccountChange> => {
  const changes = new Map<string, AccountChange>()
  const add = (account: AccountKind, leg: Leg, credits: bigint, debits: bigint) => {
    const ownerId = ownerOf(account, leg)
    const lot = account === "provider" ? leg.lot : undefined
    const key = lot === undefined ? `${ownerId} ${account}` : `${ownerId} ${account} ${lot}`
    const before = changes.get(key)
    changes.set(key, {
      account,
      ownerId,
      lot,
      credits: (before?.credits ?? 0n) + credits,
      debits: (before?.debits ?? 0n) + debits
    })
  }
  for (const leg of legs) {
    add(leg.debit, leg, 0n, leg.amount)
    add(leg.credit, leg, leg.amount, 0n)
  }
  return [...changes].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, change]) => change)
}

/** Same movements, leg by leg. The time does not count: a repeated request comes later. */
export const sameContent = (legs: ReadonlyArray<Leg>, known: ReadonlyArray<Transfer>): boolean =>
  legs.length === known.length &&
  legs.every((leg, i) => {
    const other = known[i]!
    return (
      leg.kind === other.kind &&
      leg.debit === other.debit &&
      leg.credit === other.credit &&
      leg.amount === other.amount &&
      leg.consumerId === other.consumerId &&
      leg.providerId === other.providerId &&
      leg.lot === other.lot
    )
  })

const ownerOf = (account: AccountKind, leg: Leg): string => {
  if (account === "wallet" || account === "consumer_debt") return leg.consumerId!
  if (account === "provider" || account === "provider_frozen") return leg.providerId!
  return MARKET_OWNER
}

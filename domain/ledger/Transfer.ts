/**
 * A transfer moves an amount from one account to another, so every row is balanced. Linked transfers share an id and
 * happen all or none. They are never changed or removed, only reversed by others.
 */
import { DateTime, Schema } from "effect"
import { type ConsumerId, type ProviderId, ReceiptId, Uuid } from "../shared/Ids.ts"
import { Microcents } from "../shared/Microcents.ts"
import type { Book } from "./Book.ts"

// Ledger accounts. `wallet` belongs to a consumer; `provider` and `provider_frozen` belong to a provider; the others
// belong to the platform.
//
// `processor` mirrors what the payment processor holds for the platform: it is below zero by what was received.
// `platform_fee` holds the platform's own funds: fees that were not withdrawn, and the operator's deposits.
// `consumer_debt` is below zero by what a consumer owes, `loss` by what the operator has to fund. A clearing account
// returns to zero when both of its movements have happened.

/** The accounts of the ledger. Wallets, providers' money and debts exist per owner, all others once. */
export const AccountKind = Schema.Literals([
  "wallet",
  "provider",
  "provider_frozen",
  "platform_fee",
  "processor",
  "load_clearing",
  "payout_clearing",
  "refund_clearing",
  "dispute_clearing",
  "consumer_debt",
  "loss"
])
export type AccountKind = typeof AccountKind.Type

const MAY_BE_OVERDRAWN: ReadonlySet<AccountKind> = new Set(["processor", "consumer_debt", "loss"])

/** Other accounts hold money that can be spent or withdrawn, so they may not be below zero. */
export const mayBeOverdrawn = (account: AccountKind): boolean => MAY_BE_OVERDRAWN.has(account)

/** The owner of the platform's own accounts. */
export const MARKET_OWNER = "00000000-0000-0000-0000-000000000000"

/** A consumer's money: total received, total spent, and what open calls reserve. */
export interface Wallet {
  readonly credits: bigint
  readonly debits: bigint
  readonly held: bigint
}

/** It is never below zero. */
export const availableIn = (wallet: Wallet): bigint => wallet.credits - wallet.debits - wallet.held

/** Totals of an account's transfers. */
export interface Balance {
  readonly credits: bigint
  readonly debits: bigint
}

export const balanceOf = (totals: Balance): bigint => totals.credits - totals.debits

// A provider's money is divided into lots, one per settlement day (UTC): the net earnings of the calls settled on that
// day, minus what was taken from them. Every posting that takes money from a provider names the lots, so no lot goes
// below zero.

/** A provider's earnings of one settlement day. They mature and are paid out together. */
export interface Lot extends Balance {
  /** `2026-11-22`, UTC. */
  readonly day: string
  /** The net earnings of the calls themselves, without amounts returned to the lot later. */
  readonly earned: bigint
}

/** A part of a lot that a posting takes or returns. */
export interface LotPart {
  readonly day: string
  readonly amount: bigint
}

/** The most lots that one posting takes from; the next one takes the rest. */
export const LOTS_PER_POSTING_MAX = 400

/** The lot of a call settled at this time. */
export const lotDayOf = (settledAt: DateTime.Utc): string => DateTime.formatIsoDateUtc(settledAt)

/** The part of the lot that was not taken yet. */
export const remainingIn = (lot: Lot): bigint => lot.credits - lot.debits

export const totalOfParts = (parts: ReadonlyArray<LotPart>): bigint =>
  parts.reduce((sum, part) => sum + part.amount, 0n)

/** Takes up to `amount` from the parts in their order. */
export const takeFrom = (parts: ReadonlyArray<LotPart>, amount: bigint): ReadonlyArray<LotPart> => {
  const taken: Array<LotPart> = []
  let missing = amount
  for (const part of parts) {
    if (missing <= 0n || taken.length === LOTS_PER_POSTING_MAX) break
    const take = part.amount < missing ? part.amount : missing
    if (take <= 0n) continue
    taken.push({ day: part.day, amount: take })
    missing -= take
  }
  return taken
}

/** One part per day, in the order in which the days first appear. */
export const mergedParts = (parts: ReadonlyArray<LotPart>): ReadonlyArray<LotPart> => {
  const byDay = new Map<string, bigint>()
  for (const { amount, day } of parts) byDay.set(day, (byDay.get(day) ?? 0n) + amount)
  return [...byDay].map(([day, amount]) => ({ day, amount }))
}

/** The reason why money moved. `call` and `fee` settle calls; each other kind is named after its cause. */
export const TransferKind = Schema.Literals([
  "call",
  "fee",
  "load",
  "refund",
  "payout",
  "dispute",
  "credit",
  "credit_expiry",
  "adjustment",
  "freeze",
  "deposit",
  "withdrawal",
  "processor_fee",
  "loss_cover"
])
export type TransferKind = typeof TransferKind.Type

/** Identifies the linked transfers of one posting. It is a UUID. */
export const TransferId = Uuid.pipe(Schema.brand("TransferId"))
export type TransferId = typeof TransferId.Type

/** One movement, from the debited account to the credited one. */
export interface Leg {
  readonly kind: TransferKind
  readonly debit: AccountKind
  readonly credit: AccountKind
  readonly amount: Microcents
  /** The owner of the wallet, if one is touched; otherwise the consumer that it concerns, if any. */
  readonly consumerId?: ConsumerId | undefined
  /** The owner of the provider account, if one is touched; otherwise the provider that it concerns, if any. */
  readonly providerId?: ProviderId | undefined
  /** The settlement day whose lot is touched, `2026-11-22`: on every leg that touches a provider's account. */
  readonly lot?: string | undefined
}

/** Transfers that happen all or none, once per reference. */
export interface Posting {
  /** The mode and account of this node. A ledger of another one rejects the posting. */
  readonly book: Book
  readonly transferId: TransferId
  /** Unique name of the cause: `stripe:cs_…`, `payout:…`. */
  readonly reference: string
  readonly legs: ReadonlyArray<Leg>
  /** The part of a refund that was spent from credit, and is credit again. */
  readonly restoredCredit?: bigint | undefined
  /** The time when it happened; `recordedAt` is when the ledger recorded it. */
  readonly effectiveAt: DateTime.Utc
  readonly recordedAt: DateTime.Utc
}

/** The two transfers of a call follow from its receipt and have no reference: the call's id identifies them. */
export interface Transfer extends Leg {
  readonly transferId: TransferId
  /** The leg's number from 1, in the order of the posting. */
  readonly leg: number
  readonly reference: string | undefined
  readonly effectiveAt: DateTime.Utc
  readonly recordedAt: DateTime.Utc
}

/** The transfers of a call use its id in the form of a UUID. */
export const transferOfCall = (id: ReceiptId): TransferId =>
  `${id.slice(5, 13)}-${id.slice(13, 17)}-${id.slice(17, 21)}-${id.slice(21, 25)}-${id.slice(25)}` as TransferId

export const callOfTransfer = (id: string): ReceiptId => ReceiptId.make(`rcpt_${id.replaceAll("-", "")}`)

/** A settled call, as far as its transfers follow from it. */
export interface SettledCall {
  readonly receiptId: ReceiptId
  readonly consumerId: ConsumerId
  readonly providerId: ProviderId
  readonly cost: Microcents
  readonly fee: Microcents
  readonly calledAt: DateTime.Utc
  readonly settledAt: DateTime.Utc
}

/** The provider's share and the platform's, without amounts of zero. */
export const transfersOfCall = (call: SettledCall): ReadonlyArray<Transfer> => {
  const common = {
    transferId: transferOfCall(call.receiptId),
    debit: "wallet",
    consumerId: call.consumerId,
    providerId: call.providerId,
    reference: undefined,
    effectiveAt: call.calledAt,
    recordedAt: call.settledAt
  } as const
  const share = Microcents.make(call.cost - call.fee)
  const parts: ReadonlyArray<Transfer> = [
    { ...common, leg: 1, kind: "call", credit: "provider", amount: share, lot: lotDayOf(call.settledAt) },
    { ...common, leg: 2, kind: "fee", credit: "platform_fee", amount: call.fee, lot: undefined }
  ]
  return parts.filter(({ amount }) => amount > 0n)
}

// Pure rules for linked transfers: whether a posting is valid, its effect on each account, and whether it repeats the
// posting of its reference.

/** Two legs per lot, and a few more: see LOTS_PER_POSTING_MAX. */
export const LEGS_MAX = 1_000
export const REFERENCE_CHARS_MAX = 200

/** The effect of a posting on one account. */
export interface AccountChange {
  readonly account: AccountKind
  readonly ownerId: string
  /** The settlement day of a provider's account. */
  readonly lot: string | undefined
  readonly credits: bigint
  readonly debits: bigint
}

/** Tells whether the change is rejected if it leaves the account or lot below zero. */
export const isBounded = ({ account, credits, debits }: AccountChange): boolean =>
  debits > credits && !mayBeOverdrawn(account)

/** Returns why the posting is rejected; undefined if it is valid. */
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

/** Compares movements leg by leg. The time does not count: a repeated request comes later. */
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

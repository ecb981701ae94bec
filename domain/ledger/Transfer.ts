/**
 * A transfer moves an amount from one account to another, so no row can be out of balance. Transfers that belong
 * together share an id and all happen or none; they are never changed or taken away, only answered by others.
 */
import { type DateTime, Schema } from "effect"
import { type ConsumerId, type ProviderId, ReceiptId, Uuid } from "../shared/Ids.ts"
import type { Microcents } from "../shared/Microcents.ts"
import type { AccountKind } from "./Account.ts"
import type { Book } from "./Book.ts"

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

export const TransferId = Uuid.pipe(Schema.brand("TransferId"))
export type TransferId = typeof TransferId.Type

/** One movement, from the account that is debited to the one that is credited. */
export interface Leg {
  readonly kind: TransferKind
  readonly debit: AccountKind
  readonly credit: AccountKind
  readonly amount: Microcents
  /** Whose wallet, where one is touched; else whom it concerns, if anybody. */
  readonly consumerId?: ConsumerId | undefined
  /** Whose account, where a provider's is touched; else whom it concerns, if anybody. */
  readonly providerId?: ProviderId | undefined
  /** The settlement day whose lot is touched, `2026-11-22`: on every leg that touches a provider's account. */
  readonly lot?: string | undefined
}

/** Transfers that all happen or none, once per reference. */
export interface Posting {
  /** Whose money this node moves. A ledger that holds another's rejects the posting. */
  readonly book: Book
  readonly transferId: TransferId
  /** Names what caused them, in the world of whoever posts: `stripe:cs_…`, `payout:…`. Unique. */
  readonly reference: string
  readonly legs: ReadonlyArray<Leg>
  /** When it happened; `recordedAt` is when the ledger learned of it. */
  readonly effectiveAt: DateTime.Utc
  readonly recordedAt: DateTime.Utc
}

/** As it is stored. The two transfers of a call have no reference: the call's id names them. */
export interface Transfer extends Leg {
  readonly transferId: TransferId
  /** From 1, in the order of the posting. */
  readonly leg: number
  readonly reference: string | undefined
  readonly effectiveAt: DateTime.Utc
  readonly recordedAt: DateTime.Utc
}

/** A call's transfers carry its id in the clothes of a uuid. */
export const transferOfCall = (id: ReceiptId): TransferId =>
  `${id.slice(5, 13)}-${id.slice(13, 17)}-${id.slice(17, 21)}-${id.slice(21, 25)}-${id.slice(25)}` as TransferId

export const callOfTransfer = (id: string): ReceiptId => ReceiptId.make(`rcpt_${id.replaceAll("-", "")}`)

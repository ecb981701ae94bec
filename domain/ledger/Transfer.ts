/**
 * A transfer moves an amount from one account to another, so every row is balanced. Linked transfers share an id and
 * happen all or none. They are never changed or removed, only reversed by others.
 */
import { type DateTime, Schema } from "effect"
import { type ConsumerId, type ProviderId, ReceiptId, Uuid } from "../shared/Ids.ts"
import type { Microcents } from "../shared/Microcents.ts"
import type { AccountKind } from "./Account.ts"
import type { Book } from "./Book.ts"

/** Why money moved. `call` and `fee` settle calls; each other kind is named after its cause. */
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
  /** When it happened; `recordedAt` is when the ledger recorded it. */
  readonly effectiveAt: DateTime.Utc
  readonly recordedAt: DateTime.Utc
}

/** The two transfers of a call follow from its receipt and have no reference: the call's id identifies them. */
export interface Transfer extends Leg {
  readonly transferId: TransferId
  /** From 1, in the order of the posting. */
  readonly leg: number
  readonly reference: string | undefined
  readonly effectiveAt: DateTime.Utc
  readonly recordedAt: DateTime.Utc
}

/** The transfers of a call use its id in the form of a UUID. */
export const transferOfCall = (id: ReceiptId): TransferId =>
  `${id.slice(5, 13)}-${id.slice(13, 17)}-${id.slice(17, 21)}-${id.slice(21, 25)}-${id.slice(25)}` as TransferId

export const callOfTransfer = (id: string): ReceiptId => ReceiptId.make(`rcpt_${id.replaceAll("-", "")}`)

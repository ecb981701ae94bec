/**
 * Port under the ledger. A posting is stored completely or not at all, in the current unit of work if there is one.
 */
import { Context, type Effect, type Option, Schema } from "effect"
import type { ConsumerId, ProviderId } from "../shared/Ids.ts"
import { formatAmount } from "../shared/Microcents.ts"
import type { StoreUnavailable } from "../shared/StoreUnavailable.ts"
import type { Book, WrongBook } from "./Book.ts"
import {
  AccountKind,
  type Balance,
  type Lot,
  type Posting,
  type Transfer,
  type TransferId,
  type Wallet
} from "./Transfer.ts"

/** A leg would take more from an account than it has available. No leg of the posting was booked. */
export class InsufficientBalance extends Schema.TaggedError<InsufficientBalance>()("InsufficientBalance", {
  account: AccountKind,
  ownerId: Schema.String,
  availableMicrocents: Schema.BigInt,
  neededMicrocents: Schema.BigInt
}) {
  override get message(): string {
    return (
      `Insufficient balance: the ${this.account} account of ${this.ownerId} has ${formatAmount(this.availableMicrocents)} available ` +
      `and ${formatAmount(this.neededMicrocents)} is needed. Nothing was posted.`
    )
  }
}

/** A reference stands for one posting forever. Another posting with it is a mistake of the caller. */
export class DuplicateReference extends Schema.TaggedError<DuplicateReference>()("DuplicateReference", {
  reference: Schema.String
}) {
  override get message(): string {
    return `The reference ${this.reference} was used for other transfers. Nothing was posted. Use a new reference for new transfers.`
  }
}

/** A posting was booked, now or by an earlier request with the same reference and content. */
export interface Posted {
  /** The id of the stored transfers: of the first posting, if this one repeats it. */
  readonly transferId: TransferId
  readonly repeated: boolean
}

/** Credits and debits of all accounts of one kind. */
export interface AccountTotals extends Balance {
  readonly account: AccountKind
  /** The total amount by which accounts of this kind (for providers: lots) are below zero. */
  readonly overdrawn: bigint
}

/**
 * An account whose stored figure differs from the total of its transfers or of its open calls. Or a call whose fee, or the
 * basis points by which it was computed, differ from those that its signed id states: `ownerId` is the receipt.
 */
export interface Discrepancy {
  readonly account: AccountKind
  readonly ownerId: string
  /** The settlement day of a provider's account. */
  readonly lot: string | undefined
  readonly figure: "credits" | "debits" | "held" | "fee" | "fee_bps"
  readonly kept: bigint
  readonly recomputed: bigint
}

/** The result of adding up all transfers again. Without discrepancies every stored balance is right. */
export interface Audit {
  readonly transfers: number
  readonly accounts: number
  readonly openCalls: number
  /** The first few, ordered by owner. */
  readonly discrepancies: ReadonlyArray<Discrepancy>
}

/** The amount that a consumer can spend now, and the amount that it owes after a reversal. */
export interface ConsumerFunds {
  readonly availableMicrocents: bigint
  /** The amount is above zero if more was taken back than the wallet had. */
  readonly owedMicrocents: bigint
}

/** An audit names this many discrepancies at most; one is enough to investigate. */
export const DISCREPANCIES_SHOWN_MAX = 20

export class LedgerStore extends Context.Service<
  LedgerStore,
  {
    /**
     * Expects a valid posting. Rejects it if it would leave an account or lot below zero: see `mayBeOverdrawn`. The
     * first posting records the book, which every later posting checks in its own transaction.
     */
    post(
      posting: Posting
    ): Effect.Effect<Posted, InsufficientBalance | DuplicateReference | WrongBook | StoreUnavailable>
    /** The book of the ledger; none before the first posting. */
    readonly book: Effect.Effect<Option.Option<Book>, StoreUnavailable>
    /** Returns zeros for a consumer without money. */
    wallet(consumerId: ConsumerId): Effect.Effect<Wallet, StoreUnavailable>
    /** Returns `funds`, and locks them until the end of the unit of work. */
    lockedFunds(consumerId: ConsumerId): Effect.Effect<ConsumerFunds, StoreUnavailable>
    funds(consumerId: ConsumerId): Effect.Effect<ConsumerFunds, StoreUnavailable>
    /** A provider's lots, oldest first, without empty ones. */
    lots(providerId: ProviderId): Effect.Effect<ReadonlyArray<Lot>, StoreUnavailable>
    /** Returns the balance of any account except wallets; the total of all lots for a provider. */
    balance(account: Exclude<AccountKind, "wallet">, ownerId: string): Effect.Effect<Balance, StoreUnavailable>
    /** Returns the transfers in the order of the legs; empty for an unknown id. */
    transfers(id: TransferId): Effect.Effect<ReadonlyArray<Transfer>, StoreUnavailable>
    byReference(reference: string): Effect.Effect<ReadonlyArray<Transfer>, StoreUnavailable>
    /** Every account kind with transfers, at one moment. */
    readonly totals: Effect.Effect<ReadonlyArray<AccountTotals>, StoreUnavailable>
    /** Recomputes every figure from the transfers and open calls of one moment. Reads the whole ledger. */
    readonly audit: Effect.Effect<Audit, StoreUnavailable>
  }
>()("agent-tool-billing/domain/ledger/LedgerStore") {}

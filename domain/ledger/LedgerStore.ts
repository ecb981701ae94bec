/**
 * The port under the ledger. A posting is kept whole or not at all, in the unit of work around it where there is one.
 */
import { Context, type Effect, type Option, Schema } from "effect"
import type { ConsumerId, ProviderId } from "../shared/Ids.ts"
import { AccountKind, type Balance, type Wallet } from "./Account.ts"
import type { Book, WrongBook } from "./Book.ts"
import type { Lot } from "./Lots.ts"
import type { Posting, Transfer, TransferId } from "./Transfer.ts"

export class InsufficientBalance extends Schema.TaggedError<InsufficientBalance>()("InsufficientBalance", {
  account: AccountKind,
  ownerId: Schema.String,
  availableMicrocents: Schema.BigInt,
  neededMicrocents: Schema.BigInt
}) {
  override get message(): string {
    return (
      `The ${this.account} account of ${this.ownerId} has ${this.availableMicrocents} microcents available, ` +
      `${this.neededMicrocents} are needed. Nothing was moved.`
    )
  }
}

export class DuplicateReference extends Schema.TaggedError<DuplicateReference>()("DuplicateReference", {
  reference: Schema.String
}) {
  override get message(): string {
    return `The reference ${this.reference} already stands for other transfers. Nothing was moved.`
  }
}

export interface Posted {
  /** Of the transfers that are kept: the first posting's, if this one is a repetition of it. */
  readonly transferId: TransferId
  readonly repeated: boolean
}

export interface AccountTotals extends Balance {
  readonly account: AccountKind
  /** How far those accounts of this kind (of providers: those lots) that are below zero are below it, together. */
  readonly overdrawn: bigint
}

/** An account whose kept figure is not the sum of its transfers, or of its open calls. */
export interface Discrepancy {
  readonly account: AccountKind
  readonly ownerId: string
  /** Of a provider's account: the settlement day. */
  readonly lot: string | undefined
  readonly figure: "credits" | "debits" | "held"
  readonly kept: bigint
  readonly recomputed: bigint
}

export interface Audit {
  readonly transfers: number
  readonly accounts: number
  readonly openCalls: number
  /** The first few, in the order of owners. */
  readonly discrepancies: ReadonlyArray<Discrepancy>
}

export interface ConsumerStanding {
  readonly availableMicrocents: bigint
  /** More than nothing where money was taken back that the wallet no longer had. */
  readonly owedMicrocents: bigint
}

export const DISCREPANCIES_SHOWN_MAX = 20

export class LedgerStore extends Context.Service<
  LedgerStore,
  {
    /**
     * Expects a posting without fault. Rejected if it would leave an account or lot below zero: see `mayBeOverdrawn`. The first
     * one opens the book, which is checked in the posting's own transaction.
     */
    post(posting: Posting): Effect.Effect<Posted, InsufficientBalance | DuplicateReference | WrongBook>
    /** Whose money the ledger holds; none before the first posting. */
    readonly book: Effect.Effect<Option.Option<Book>>
    /** Of a consumer that never had money: all zero. */
    wallet(consumerId: ConsumerId): Effect.Effect<Wallet>
    /** As `standing`; it stays as it is until the unit of work around it ends. */
    lockedStanding(consumerId: ConsumerId): Effect.Effect<ConsumerStanding>
    standing(consumerId: ConsumerId): Effect.Effect<ConsumerStanding>
    /** What a provider has, lot by lot, oldest first; without the lots that are used up. */
    lots(providerId: ProviderId): Effect.Effect<ReadonlyArray<Lot>>
    /** Of any account but a wallet; of a provider's, all of its lots together. */
    balance(account: Exclude<AccountKind, "wallet">, ownerId: string): Effect.Effect<Balance>
    /** In the order of the legs; empty where the id is not known. */
    transfers(id: TransferId): Effect.Effect<ReadonlyArray<Transfer>>
    byReference(reference: string): Effect.Effect<ReadonlyArray<Transfer>>
    /** Every account kind that has transfers, of one moment. */
    readonly totals: Effect.Effect<ReadonlyArray<AccountTotals>>
    /** Every figure recomputed from the transfers and the open calls of one moment. Reads the whole ledger. */
    readonly audit: Effect.Effect<Audit>
  }
>()("agent-tool-billing/domain/ledger/LedgerStore") {}

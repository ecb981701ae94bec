/**
 * The market's books outside the call itself: money in, money back, credits, corrections, and the proof that it all
 * adds up. What calls move is written with their settlement (CallStore), into the same accounts.
 */
import { Context, DateTime, Effect, Layer, Schema } from "effect"
import { Entropy } from "../shared/Entropy.ts"
import type { ConsumerId, ProviderId } from "../shared/Ids.ts"
import { Microcents } from "../shared/Microcents.ts"
import { availableIn, type Balance, balanceOf, type Wallet } from "./Account.ts"
import {
  type AccountTotals,
  type Audit,
  type DuplicateReference,
  type InsufficientBalance,
  LedgerStore,
  type Posted
} from "./LedgerStore.ts"
import { faultOf } from "./LinkedTransfers.ts"
import { type Leg, type Transfer, TransferId } from "./Transfer.ts"

/** Names the cause; the same reference with the same content is the same movement, never a second one. */
interface Caused {
  readonly reference: string
  /** When it happened; now, unless said otherwise. */
  readonly effectiveAt?: DateTime.Utc | undefined
}

export interface WalletMovement extends Caused {
  readonly consumerId: ConsumerId
  readonly amount: Microcents
}

/** What a call cost, or a part of it, given back by those who got it: `fee` by the platform, the rest by the provider. */
export interface RefundOfCall extends WalletMovement {
  readonly providerId: ProviderId
  readonly fee: Microcents
}

export interface Adjustment extends Caused {
  readonly owner: { readonly consumerId: ConsumerId } | { readonly providerId: ProviderId }
  readonly direction: "credit" | "debit"
  readonly amount: Microcents
}

export interface WalletStanding extends Wallet {
  readonly available: bigint
}

export interface ProviderStanding extends Balance {
  /** Below zero: the provider's debt. */
  readonly balance: bigint
}

export interface TrialBalance {
  readonly accounts: ReadonlyArray<AccountTotals>
  readonly credits: bigint
  readonly debits: bigint
  readonly balanced: boolean
}

/** A mistake of the one who posts, not of a user. */
export class UnpostableTransfers extends Schema.TaggedError<UnpostableTransfers>()("UnpostableTransfers", {
  reference: Schema.String,
  fault: Schema.String
}) {
  override get message(): string {
    return `${this.fault} (${this.reference}). Nothing was moved.`
  }
}

export class Ledger extends Context.Service<
  Ledger,
  {
    /** Money that the processor has received. */
    load(load: WalletMovement): Effect.Effect<Posted, DuplicateReference>
    /** Promotional money, and its end. */
    credit(credit: WalletMovement): Effect.Effect<Posted, DuplicateReference>
    expireCredit(credit: WalletMovement): Effect.Effect<Posted, DuplicateReference | InsufficientBalance>
    /** May leave the provider in debt: the consumer is not the one to wait. */
    refund(refund: RefundOfCall): Effect.Effect<Posted, DuplicateReference>
    adjust(adjustment: Adjustment): Effect.Effect<Posted, DuplicateReference | InsufficientBalance>
    /** Linked transfers: all of them or none. */
    post(
      posting: Caused & { readonly legs: ReadonlyArray<Leg> }
    ): Effect.Effect<Posted, DuplicateReference | InsufficientBalance>
    wallet(consumerId: ConsumerId): Effect.Effect<WalletStanding>
    provider(providerId: ProviderId): Effect.Effect<ProviderStanding>
    byReference(reference: string): Effect.Effect<ReadonlyArray<Transfer>>
    readonly trialBalance: Effect.Effect<TrialBalance>
    readonly audit: Effect.Effect<Audit>
  }
>()("agent-tool-billing/domain/ledger/Ledger") {
  static readonly layer = Layer.effect(
    Ledger,
    Effect.gen(function* () {
      const store = yield* LedgerStore
      const entropy = yield* Entropy

      const post = Effect.fn("Ledger.post")(function* (posting: Caused & { readonly legs: ReadonlyArray<Leg> }) {
        const { reference, legs } = posting
        const fault = faultOf(posting)
        if (fault !== undefined) return yield* Effect.die(new UnpostableTransfers({ reference, fault }))
        const recordedAt = yield* DateTime.now
        const effectiveAt = posting.effectiveAt ?? recordedAt
        const transferId = TransferId.make(yield* entropy.uuid)
        return yield* store.post({ transferId, reference, legs, effectiveAt, recordedAt })
      })

      /** For movements that debit nothing which must not go below zero. */
      const postFunded = (posting: Caused & { readonly legs: ReadonlyArray<Leg> }) =>
        post(posting).pipe(Effect.catchTag("InsufficientBalance", Effect.die))

      return Ledger.of({
        post,
        load: (load) => postFunded({ ...load, legs: loadLegs(load) }),
        credit: (credit) =>
          postFunded({ ...credit, legs: [{ ...moved(credit), kind: "credit", debit: "promo", credit: "wallet" }] }),
        expireCredit: (credit) =>
          post({ ...credit, legs: [{ ...moved(credit), kind: "credit_expiry", debit: "wallet", credit: "promo" }] }),
        refund: (refund) => postFunded({ ...refund, legs: refundLegs(refund) }),
        adjust: (adjustment) => post({ ...adjustment, legs: [adjustmentLeg(adjustment)] }),
        wallet: (consumerId) =>
          Effect.map(store.wallet(consumerId), (wallet) => ({ ...wallet, available: availableIn(wallet) })),
        provider: (providerId) =>
          Effect.map(store.provider(providerId), (sums) => ({ ...sums, balance: balanceOf(sums) })),
        byReference: store.byReference,
        trialBalance: Effect.map(store.totals, trialBalanceOf),
        audit: store.audit
      })
    })
  )
}

const moved = ({ consumerId, amount }: WalletMovement) => ({ consumerId, amount })

/** Through the clearing account, which is back at zero when both have happened. */
const loadLegs = (load: WalletMovement): ReadonlyArray<Leg> => [
  { ...moved(load), kind: "load", debit: "processor", credit: "load_clearing" },
  { ...moved(load), kind: "load", debit: "load_clearing", credit: "wallet" }
]

const refundLegs = ({ consumerId, providerId, amount, fee }: RefundOfCall): ReadonlyArray<Leg> => {
  const parties = { consumerId, providerId, kind: "refund", credit: "wallet" } as const
  const net = Microcents.make(amount - fee)
  return [
    ...(net > 0n ? [{ ...parties, debit: "provider", amount: net } as const] : []),
    ...(fee > 0n ? [{ ...parties, debit: "platform_fee", amount: fee } as const] : [])
  ]
}

const adjustmentLeg = ({ owner, direction, amount }: Adjustment): Leg => {
  const account = "consumerId" in owner ? "wallet" : "provider"
  return direction === "credit"
    ? { ...owner, kind: "adjustment", debit: "adjustment", credit: account, amount }
    : { ...owner, kind: "adjustment", debit: account, credit: "adjustment", amount }
}

const trialBalanceOf = (accounts: ReadonlyArray<AccountTotals>): TrialBalance => {
  const credits = accounts.reduce((sum, account) => sum + account.credits, 0n)
  const debits = accounts.reduce((sum, account) => sum + account.debits, 0n)
  return { accounts, credits, debits, balanced: credits === debits }
}

/**
 * The market's books outside the call itself: money in, money back, credits, corrections, and the proof that it all
 * adds up. What calls move is written with their settlement (CallStore), into the same accounts.
 */
import { Context, DateTime, Effect, Layer, Schema } from "effect"
import { Entropy } from "../shared/Entropy.ts"
import type { ConsumerId, ProviderId } from "../shared/Ids.ts"
import { Microcents } from "../shared/Microcents.ts"
import { UnitOfWork } from "../shared/UnitOfWork.ts"
import { availableIn, type Balance, balanceOf, type Wallet } from "./Account.ts"
import {
  type AccountTotals,
  type Audit,
  type ConsumerStanding,
  DuplicateReference,
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

/** A refund of the payment, or the payer's bank that disputes it. */
export interface TakenBack extends WalletMovement {
  readonly cause: "refund" | "dispute"
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
    /** Money that the processor has received. A debt is paid first. */
    load(load: WalletMovement): Effect.Effect<Posted, DuplicateReference>
    /** Money of a load that the processor gave back to the payer: from the wallet what it has, the rest becomes a debt. */
    takeBack(back: TakenBack): Effect.Effect<Posted, DuplicateReference>
    /** Money that was taken back and came again after all. */
    bringBack(back: TakenBack): Effect.Effect<Posted, DuplicateReference>
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
    standing(consumerId: ConsumerId): Effect.Effect<ConsumerStanding>
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
      const { atomically } = yield* UnitOfWork

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

      /** Legs that follow from what the consumer has and owes; the same reference is not divided anew. */
      const postDivided = Effect.fnUntraced(function* (
        movement: WalletMovement,
        divide: (standing: ConsumerStanding) => ReadonlyArray<Leg>
      ) {
        const standing = yield* store.lockedStanding(movement.consumerId)
        const [known] = yield* store.byReference(movement.reference)
        if (known === undefined) return yield* post({ ...movement, legs: divide(standing) })
        const all = yield* store.byReference(movement.reference)
        if (throughClearing(all) !== movement.amount || known.consumerId !== movement.consumerId) {
          return yield* new DuplicateReference({ reference: movement.reference })
        }
        return { transferId: known.transferId, repeated: true }
      })

      /** A call may have taken from the wallet since it was looked at: then it is looked at again. */
      const divided = (movement: WalletMovement, divide: (standing: ConsumerStanding) => ReadonlyArray<Leg>) =>
        atomically(postDivided(movement, divide)).pipe(
          Effect.retry({ while: (error) => error._tag === "InsufficientBalance", times: DIVISIONS_MAX }),
          Effect.catchTag("InsufficientBalance", Effect.die)
        )

      return Ledger.of({
        post,
        load: (load) => divided(load, (standing) => loadLegs(load, standing)),
        takeBack: (back) => divided(back, (standing) => takenBackLegs(back, standing)),
        bringBack: (back) => divided(back, (standing) => broughtBackLegs(back, standing)),
        standing: store.standing,
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

const DIVISIONS_MAX = 10

/** Into the wallet; a debt is paid first. */
const intoWallet = (
  { consumerId, amount }: WalletMovement,
  { owedMicrocents }: ConsumerStanding,
  from: Pick<Leg, "kind" | "debit">
): ReadonlyArray<Leg> => {
  const paid = owedMicrocents < amount ? owedMicrocents : amount
  return legsOf(
    { ...from, consumerId, credit: "consumer_debt", amount: Microcents.make(paid) },
    { ...from, consumerId, credit: "wallet", amount: Microcents.make(amount - paid) }
  )
}

const legsOf = (...legs: ReadonlyArray<Leg>): ReadonlyArray<Leg> => legs.filter((leg) => leg.amount > 0n)

/** Through the clearing account, which is back at zero when both have happened. */
const loadLegs = (load: WalletMovement, standing: ConsumerStanding): ReadonlyArray<Leg> => [
  { ...moved(load), kind: "load", debit: "processor", credit: "load_clearing" },
  ...intoWallet(load, standing, { kind: "load", debit: "load_clearing" })
]

const clearingOf = {
  refund: { kind: "load", account: "refund_clearing" },
  dispute: { kind: "dispute", account: "dispute_clearing" }
} as const

const takenBackLegs = (back: TakenBack, { availableMicrocents }: ConsumerStanding): ReadonlyArray<Leg> => {
  const { account, kind } = clearingOf[back.cause]
  const had = availableMicrocents < back.amount ? availableMicrocents : back.amount
  const parties = { kind, consumerId: back.consumerId, credit: account }
  return [
    ...legsOf(
      { ...parties, debit: "wallet", amount: Microcents.make(had) },
      { ...parties, debit: "consumer_debt", amount: Microcents.make(back.amount - had) }
    ),
    { ...moved(back), kind, debit: account, credit: "processor" }
  ]
}

const broughtBackLegs = (back: TakenBack, standing: ConsumerStanding): ReadonlyArray<Leg> => {
  const { account, kind } = clearingOf[back.cause]
  return [
    { ...moved(back), kind, debit: "processor", credit: account },
    ...intoWallet(back, standing, { kind, debit: account })
  ]
}

/** What a movement that was divided was in all: its one leg to or from the processor. */
const throughClearing = (transfers: ReadonlyArray<Transfer>): bigint | undefined =>
  transfers.find((transfer) => transfer.debit === "processor" || transfer.credit === "processor")?.amount

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

/**
 * Refunds calls. Only existing money moves; the missing part becomes a claim. RefundPlan has the order.
 */
import { Context, DateTime, Effect, Layer } from "effect"
import { intoWallet, Ledger, type Source } from "../ledger/Ledger.ts"
import { least, PaidFunds, positive } from "../ledger/PaidFunds.ts"
import { type LotPart, mergedParts, takeFrom, totalOfParts } from "../ledger/Transfer.ts"
import { Entropy } from "../shared/Cryptography.ts"
import type { ConsumerId, ProviderId, ReceiptId } from "../shared/Ids.ts"
import { fromCents, Microcents } from "../shared/Microcents.ts"
import { dieUnlessUnavailable, type StoreUnavailable, UnitOfWork } from "../shared/StoreUnavailable.ts"
import { type Claim, ClaimId, ClaimStore } from "./Claims.ts"
import { CurrentEarningsPolicy, inOrderOfRecovery } from "./EarningStates.ts"
import { type ProviderHoldings, ProviderMoney } from "./Earnings.ts"

export interface RefundSources {
  readonly net: bigint
  readonly fee: bigint
  /** The call's own earnings, as far as they existed when the dispute was filed. */
  readonly frozen: bigint
  /** The provider's other money, in the order in which it is taken. */
  readonly parts: ReadonlyArray<LotPart>
  /** Undrawn fees and deposits. */
  readonly platformFunds: bigint
  /** The amount that the platform may still advance for providers: the limit minus open advances. */
  readonly advanceLeft: bigint
}

/**
 * Plans where the money of a refund comes from. Only existing money moves: the amount that the dispute froze, then the
 * provider's other money, then platform funds up to a limit. The missing part becomes a claim.
 */
export interface RefundPlan {
  readonly fromFrozen: bigint
  readonly fromLots: ReadonlyArray<LotPart>
  /** The platform's own part: its fee. */
  readonly fromPlatform: bigint
  /** Platform funds advanced for the provider; the platform then has the claim. */
  readonly advanced: bigint
  readonly owedByProvider: bigint
  readonly owedByPlatform: bigint
  readonly refunded: bigint
}

export const planRefund = (sources: RefundSources): RefundPlan => {
  const fromFrozen = covered(sources.net, sources.frozen)
  const fromLots = takeFrom(sources.parts, sources.net - fromFrozen)
  const fromPlatform = covered(sources.fee, sources.platformFunds)
  const missing = sources.net - fromFrozen - totalOfParts(fromLots)
  const advanced = covered(missing, sources.advanceLeft, sources.platformFunds - fromPlatform)
  return {
    fromFrozen,
    fromLots,
    fromPlatform,
    advanced,
    owedByProvider: missing - advanced,
    owedByPlatform: sources.fee - fromPlatform,
    refunded: sources.net - missing + advanced + fromPlatform
  }
}

const covered = (...amounts: ReadonlyArray<bigint>): bigint => positive(least(...amounts))

/** A call whose cost goes back to its consumer, and where its money is now. */
export interface CallToRefund {
  /** The id of a dispute. Names its postings and claims. */
  readonly subject: string
  readonly receiptId: ReceiptId
  readonly consumerId: ConsumerId
  readonly providerId: ProviderId
  /** The lot of the call's own earnings. */
  readonly lot: string
  readonly cost: Microcents
  readonly fee: Microcents
  readonly frozen: Microcents
}

const REPLANS_MAX = 10

export class Refunds extends Context.Service<
  Refunds,
  {
    /** Freezes the call's own earnings as far as they still exist; returns the amount. Once per subject. */
    freeze(call: Omit<CallToRefund, "frozen">): Effect.Effect<Microcents, StoreUnavailable>
    /** Nothing is refunded: the frozen amount returns to its lot. */
    release(call: CallToRefund): Effect.Effect<void, StoreUnavailable>
    /** Returns what was refunded now. Once per subject. */
    refund(call: CallToRefund): Effect.Effect<Microcents, StoreUnavailable>
  }
>()("agent-tool-billing/domain/earnings/Refunds") {
  static readonly layer = Layer.effect(
    Refunds,
    Effect.gen(function* () {
      const ledger = yield* Ledger
      const paidFunds = yield* PaidFunds
      const money = yield* ProviderMoney
      const claims = yield* ClaimStore
      const entropy = yield* Entropy
      const lossLimit = fromCents((yield* CurrentEarningsPolicy).refundLossLimitCents)
      const { atomically } = yield* UnitOfWork

      /** A payout or another refund may have taken the money since it was read: then read it again. */
      const replanned = <A, E extends { readonly _tag: string }>(planning: Effect.Effect<A, E>) =>
        atomically(planning).pipe(
          Effect.retry({ while: (error) => error._tag === "InsufficientBalance", times: REPLANS_MAX }),
          dieUnlessUnavailable
        )

      const freezeOnce = Effect.fnUntraced(function* ({
        cost,
        fee,
        lot,
        providerId,
        subject
      }: Omit<CallToRefund, "frozen">) {
        const lots = yield* ledger.lots(providerId)
        const own = lots.find(({ day }) => day === lot)
        const left = own === undefined ? 0n : own.credits - own.debits
        const amount = Microcents.make(left < cost - fee ? left : cost - fee)
        if (amount === 0n) return amount
        const leg = { kind: "freeze", debit: "provider", credit: "provider_frozen", lot, providerId, amount } as const
        yield* ledger.post({ reference: `dispute:${subject}:freeze`, legs: [leg] })
        return amount
      })

      const release = Effect.fn("Refunds.release")(function* ({ frozen, lot, providerId, subject }: CallToRefund) {
        if (frozen === 0n) return
        const leg = { kind: "freeze", debit: "provider_frozen", credit: "provider", lot, providerId } as const
        yield* ledger.post({ reference: `dispute:${subject}:release`, legs: [{ ...leg, amount: frozen }] })
      }, dieUnlessUnavailable)

      const planOf = Effect.fnUntraced(function* (call: CallToRefund) {
        const advanced = lossLimit === 0n ? 0n : yield* claims.lockAdvanced
        return planRefund({
          net: call.cost - call.fee,
          fee: call.fee,
          frozen: call.frozen,
          parts: ownLotFirst(yield* money.holdings(call.providerId), call.lot),
          platformFunds: yield* ledger.platformFunds,
          advanceLeft: lossLimit - advanced
        })
      })

      const claim = Effect.fnUntraced(function* (
        amount: bigint,
        { subject }: CallToRefund,
        between: Pick<Claim, "debtor" | "creditor">,
        credit = 0n
      ) {
        if (amount === 0n) return
        yield* claims.insert({
          id: ClaimId.make(yield* entropy.uuid),
          subject,
          ...between,
          amount: Microcents.make(amount),
          credit: Microcents.make(credit),
          paid: Microcents.make(0n),
          createdAt: yield* DateTime.now
        })
      })

      const refundOnce = Effect.fnUntraced(function* (call: CallToRefund) {
        const { consumerId, providerId, subject } = call
        const paid = yield* paidFunds.paidOf(call)
        // The wallet is locked first, as in claims and settlements: one order of locks prevents deadlocks.
        const funds = yield* ledger.lockedFunds(consumerId)
        const plan = yield* planOf(call)
        // Paid funds come back first: the end of the amount is what was spent from credit.
        const restoredCredit = positive(plan.refunded - paid)
        const owedCredit = positive(call.cost - paid) - restoredCredit
        const creditOfPlatform = least(plan.owedByPlatform, owedCredit)
        if (plan.refunded > 0n) {
          const legs = intoWallet(sourcesOf(plan, call), funds)
          yield* ledger.post({ reference: `dispute:${subject}`, legs, restoredCredit })
        }
        const debtor = { debtor: providerId, creditor: consumerId }
        yield* claim(plan.owedByProvider, call, debtor, owedCredit - creditOfPlatform)
        yield* claim(plan.owedByPlatform, call, { debtor: undefined, creditor: consumerId }, creditOfPlatform)
        yield* claim(plan.advanced, call, { debtor: providerId, creditor: undefined })
        return Microcents.make(plan.refunded)
      })

      return Refunds.of({
        freeze: Effect.fn("Refunds.freeze")((call) => replanned(freezeOnce(call))),
        release,
        refund: Effect.fn("Refunds.refund")((call: CallToRefund) => replanned(refundOnce(call)))
      })
    })
  )
}

const ownLotFirst = (holdings: ProviderHoldings, lot: string): ReadonlyArray<LotPart> => {
  const parts = inOrderOfRecovery(holdings)
  return mergedParts([...parts.filter(({ day }) => day === lot), ...parts.filter(({ day }) => day !== lot)])
}

const sourcesOf = (plan: RefundPlan, { consumerId, providerId }: CallToRefund): ReadonlyArray<Source> => {
  const parties = { kind: "refund", consumerId, providerId } as const
  return [
    { ...parties, debit: "provider_frozen" as const, amount: Microcents.make(plan.fromFrozen) },
    ...plan.fromLots.map(({ amount, day }) => ({
      ...parties,
      debit: "provider" as const,
      lot: day,
      amount: Microcents.make(amount)
    })),
    { ...parties, debit: "platform_fee" as const, amount: Microcents.make(plan.fromPlatform + plan.advanced) }
  ].filter(({ amount }) => amount > 0n)
}

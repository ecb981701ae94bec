/**
 * Collects claims: from a provider's money in every state except frozen, and from platform funds, oldest claim first.
 */
import { Context, Effect, Layer } from "effect"
import { Ledger } from "../ledger/Ledger.ts"
import { mergedParts, takeFrom } from "../ledger/Lots.ts"
import { positive } from "../ledger/PaidFunds.ts"
import { intoWallet, type Source } from "../ledger/Movements.ts"
import type { Leg } from "../ledger/Transfer.ts"
import { inOrderOfRecovery } from "./EarningStates.ts"
import { ProviderMoney } from "./ProviderMoney.ts"
import type { ProviderId } from "../shared/Ids.ts"
import { Microcents } from "../shared/Microcents.ts"
import { bothOf, roundOfPages } from "../shared/Round.ts"
import { UnitOfWork } from "../shared/UnitOfWork.ts"
import { type Claim, outstandingOf } from "./Claim.ts"
import { ClaimStore, type ClaimTotals } from "./ClaimStore.ts"
import type { StoreUnavailable } from "../shared/StoreUnavailable.ts"

const CLAIMS_AT_ONCE_MAX = 50
const DEBTORS_AT_ONCE_MAX = 100
const REPLANS_MAX = 10

/** The state of the claims about one subject. */
export interface SubjectClaims {
  /** Paid to the consumer so far. */
  readonly paidMicrocents: bigint
  /** Still owed to the consumer. */
  readonly outstandingMicrocents: bigint
}

export class Claims extends Context.Service<
  Claims,
  {
    /** Pays what the provider owes from what it has; returns how much. */
    collect(debtor: ProviderId): Effect.Effect<bigint, StoreUnavailable>
    /** Every debtor, and the platform; returns how much was paid. */
    readonly work: Effect.Effect<bigint, StoreUnavailable>
    ofSubjects(subjects: ReadonlyArray<string>): Effect.Effect<ReadonlyMap<string, SubjectClaims>, StoreUnavailable>
    owedBy(debtor: ProviderId): Effect.Effect<bigint, StoreUnavailable>
    readonly totals: Effect.Effect<ClaimTotals, StoreUnavailable>
  }
>()("agent-tool-billing/domain/earnings/Claims") {
  static readonly layer = Layer.effect(
    Claims,
    Effect.gen(function* () {
      const store = yield* ClaimStore
      const ledger = yield* Ledger
      const money = yield* ProviderMoney
      const { atomically } = yield* UnitOfWork

      const legsTo = Effect.fnUntraced(function* ({ creditor }: Claim, sources: ReadonlyArray<Source>) {
        if (creditor === undefined) return sources.map((source): Leg => ({ ...source, credit: "platform_fee" }))
        return intoWallet(sources, yield* ledger.lockedFunds(creditor))
      })

      const pay = Effect.fnUntraced(function* (claim: Claim, sources: ReadonlyArray<Source>) {
        const amount = sources.reduce((sum, source) => sum + source.amount, 0n)
        // The amount paid before is part of the reference, so the same part is never paid twice.
        const legs = yield* legsTo(claim, sources)
        const fromPaid = claim.amount - claim.credit
        const restoredCredit = positive(claim.paid + amount - fromPaid) - positive(claim.paid - fromPaid)
        yield* ledger.post({ reference: `claim:${claim.id}:${claim.paid}`, legs, restoredCredit })
        yield* store.setPaid(claim.id, Microcents.make(claim.paid + amount))
        return amount
      })

      /** One claim per unit of work, so that no two wallets are locked together. */
      const payOldest = Effect.fnUntraced(function* (debtor: ProviderId | undefined) {
        const [claim] = yield* store.lockOpen(debtor, 1)
        if (claim === undefined) return 0n
        const sources = debtor === undefined ? yield* ownFunds(claim) : yield* fundsOf(debtor, claim)
        return sources.length === 0 ? 0n : yield* pay(claim, sources)
      })

      const fundsOf = Effect.fnUntraced(function* (debtor: ProviderId, claim: Claim) {
        const parts = inOrderOfRecovery(yield* money.holdings(debtor))
        return takeFrom(mergedParts(parts), outstandingOf(claim)).map(({ amount, day }): Source => ({
          kind: "refund",
          debit: "provider",
          lot: day,
          providerId: debtor,
          consumerId: claim.creditor,
          amount: Microcents.make(amount)
        }))
      })

      const ownFunds = Effect.fnUntraced(function* (claim: Claim) {
        const funds = yield* ledger.platformFunds
        const amount = funds < outstandingOf(claim) ? funds : outstandingOf(claim)
        const source: Source = {
          kind: "refund",
          debit: "platform_fee",
          consumerId: claim.creditor,
          amount: Microcents.make(amount)
        }
        return amount > 0n ? [source] : []
      })

      /** A payout or another refund may have taken the money since it was read: then read it again. */
      const paidNow = (debtor: ProviderId | undefined) =>
        atomically(payOldest(debtor)).pipe(
          Effect.retry({ while: (error) => error._tag === "InsufficientBalance", times: REPLANS_MAX }),
          Effect.catchTags({ InsufficientBalance: () => Effect.succeed(0n), DuplicateReference: Effect.die })
        )

      const payAll = Effect.fnUntraced(function* (debtor: ProviderId | undefined) {
        let paid = 0n
        for (let i = 0; i < CLAIMS_AT_ONCE_MAX; i++) {
          const amount = yield* paidNow(debtor)
          if (amount === 0n) break
          paid += amount
        }
        return paid
      })

      const collect = Effect.fn("Claims.collect")((debtor: ProviderId) => payAll(debtor))

      const fromDebtors = roundOfPages(
        {
          pageMax: DEBTORS_AT_ONCE_MAX,
          read: (after: ProviderId | undefined) => store.debtors(after, DEBTORS_AT_ONCE_MAX)
        },
        { failing: "Providers' claims that could not be collected", work: collect }
      )

      const work = Effect.gen(function* () {
        const [fromPlatform, paid] = yield* bothOf(payAll(undefined), fromDebtors)
        return paid.reduce((sum, one) => sum + one, fromPlatform)
      }).pipe(Effect.withSpan("Claims.work"))

      const ofSubjects = Effect.fn("Claims.ofSubjects")(function* (subjects: ReadonlyArray<string>) {
        const bySubject = new Map<string, SubjectClaims>()
        for (const claim of yield* store.ofSubjects(subjects)) {
          if (claim.creditor === undefined) continue
          const before = bySubject.get(claim.subject)
          bySubject.set(claim.subject, {
            paidMicrocents: (before?.paidMicrocents ?? 0n) + claim.paid,
            outstandingMicrocents: (before?.outstandingMicrocents ?? 0n) + outstandingOf(claim)
          })
        }
        return bySubject
      })

      return Claims.of({ collect, work, ofSubjects, owedBy: store.owedBy, totals: store.totals })
    })
  )
}

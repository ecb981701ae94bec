/**
 * Collects claims: from a provider's money in every state except frozen, and from platform funds, oldest claim first.
 */
import { Context, type DateTime, Effect, Layer, Schema } from "effect"
import { intoWallet, Ledger, type Source } from "../ledger/Ledger.ts"
import { positive } from "../ledger/PaidFunds.ts"
import { type Leg, mergedParts, takeFrom } from "../ledger/Transfer.ts"
import { type ConsumerId, type ProviderId, Uuid } from "../shared/Ids.ts"
import { Microcents } from "../shared/Microcents.ts"
import type { Page, PageRequest } from "../shared/Page.ts"
import { bothOf, roundOfPages } from "../shared/Round.ts"
import { type StoreUnavailable, UnitOfWork } from "../shared/StoreUnavailable.ts"
import { inOrderOfRecovery } from "./EarningStates.ts"
import { ProviderMoney } from "./Earnings.ts"

/** Identifies a claim. It is a UUID. */
export const ClaimId = Uuid.pipe(Schema.brand("ClaimId"))
export type ClaimId = typeof ClaimId.Type

/**
 * The part of a refund that could not be paid when it was decided. A provider's claims are paid oldest first, from its
 * next earnings; the platform's part of the fee, from its next funds.
 */
export interface Claim {
  readonly id: ClaimId
  /** The id of a dispute. */
  readonly subject: string
  /** The provider that owes it; undefined: the platform. */
  readonly debtor: ProviderId | undefined
  /** The consumer that it is owed to; undefined: the platform, which advanced the money. */
  readonly creditor: ConsumerId | undefined
  readonly amount: Microcents
  /** The part of the amount that was spent from credit, and is credit again. It is paid last. */
  readonly credit: Microcents
  readonly paid: Microcents
  readonly createdAt: DateTime.Utc
}

export const outstandingOf = ({ amount, paid }: Pick<Claim, "amount" | "paid">): bigint => amount - paid

/** Refunds that were decided and are not paid yet, by debtor. */
export interface ClaimTotals {
  /** Owed to consumers by providers. */
  readonly byProvidersMicrocents: bigint
  /** Owed to consumers by the platform. */
  readonly byPlatformMicrocents: bigint
  /** Advanced by the platform and not paid back. */
  readonly advancedMicrocents: bigint
}

/** Port to claims: refunds that were decided and are not paid yet. */
export class ClaimStore extends Context.Service<
  ClaimStore,
  {
    insert(claim: Claim): Effect.Effect<void, StoreUnavailable>
    /** Oldest first, at most `limit`; locked until the end of the unit of work. Undefined: the platform's. */
    lockOpen(debtor: ProviderId | undefined, limit: number): Effect.Effect<ReadonlyArray<Claim>, StoreUnavailable>
    setPaid(id: ClaimId, paid: Microcents): Effect.Effect<void, StoreUnavailable>
    /** Providers that owe something, by id, after `after`. */
    debtors(after: ProviderId | undefined, limit: number): Effect.Effect<ReadonlyArray<ProviderId>, StoreUnavailable>
    /** Newest first; `openOnly`: those that are not paid completely. */
    list(openOnly: boolean, page: PageRequest): Effect.Effect<Page<Claim>, StoreUnavailable>
    /** Oldest first. */
    ofSubjects(subjects: ReadonlyArray<string>): Effect.Effect<ReadonlyArray<Claim>, StoreUnavailable>
    /** The total that a provider owes. */
    owedBy(debtor: ProviderId): Effect.Effect<bigint, StoreUnavailable>
    /** The total that a consumer is owed. */
    owedTo(creditor: ConsumerId): Effect.Effect<bigint, StoreUnavailable>
    readonly totals: Effect.Effect<ClaimTotals, StoreUnavailable>
    /** Locked for readers of this figure until the end of the unit of work. */
    readonly lockAdvanced: Effect.Effect<bigint, StoreUnavailable>
  }
>()("agent-tool-billing/domain/earnings/ClaimStore") {}

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

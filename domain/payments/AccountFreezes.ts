/**
 * An account is frozen while a chargeback is open, after a lost one until the debt is paid, and while calls hold money
 * that was refunded meanwhile. The operator may unfreeze it earlier, and freeze any account.
 */
import { Context, DateTime, Effect, Layer, Option } from "effect"
import { Ledger } from "../ledger/Ledger.ts"
import { Entropy } from "../shared/Cryptography.ts"
import type { ConsumerId, LoadId } from "../shared/Ids.ts"
import { formatDollars, Microcents } from "../shared/Microcents.ts"
import type { Page, PageRequest } from "../shared/Page.ts"
import { roundOfPages } from "../shared/Round.ts"
import { dieUnlessUnavailable, type StoreUnavailable, UnitOfWork } from "../shared/StoreUnavailable.ts"

/** A payment that the payer disputed at the bank, from its opening to the bank's decision. */
export interface Chargeback {
  /** The processor's id. */
  readonly id: string
  readonly loadId: LoadId
  readonly consumerId: ConsumerId
  readonly amountCents: number
  /** The bank's decision. `won` is final. */
  readonly state: "open" | "won" | "lost"
  /** The processor's movement. `reinstated` is final: the money came back, or was never taken. */
  readonly funds: "none" | "withdrawn" | "reinstated"
  /** The operator unfroze the account: this chargeback does not freeze it again. */
  readonly released: boolean
  readonly openedAt: DateTime.Utc
  readonly updatedAt: DateTime.Utc
}

/** Port to chargebacks: payments that the payer disputes at the bank. */
export class ChargebackStore extends Context.Service<
  ChargebackStore,
  {
    find(id: string): Effect.Effect<Option.Option<Chargeback>, StoreUnavailable>
    /** Inserts, or replaces the record of this id. */
    put(chargeback: Chargeback): Effect.Effect<void, StoreUnavailable>
    /** Newest first. */
    list(page: PageRequest): Effect.Effect<Page<Chargeback>, StoreUnavailable>
    /** Oldest first. */
    ofConsumer(consumerId: ConsumerId): Effect.Effect<ReadonlyArray<Chargeback>, StoreUnavailable>
  }
>()("agent-tool-billing/domain/payments/ChargebackStore") {}

/** The freeze of an account, which cannot spend meanwhile. Funds can still be added. */
export interface Freeze {
  readonly reason: string
  readonly at: DateTime.Utc
  /** Only the operator ends it. */
  readonly byOperator: boolean
}

/**
 * Port to frozen consumer accounts. A frozen account opens no calls; reading and loading still work. CallStore checks it
 * in the transaction that opens the call.
 */
export class FreezeStore extends Context.Service<
  FreezeStore,
  {
    /** A frozen account keeps its time; the reason is replaced. A freeze by the operator is replaced only by another one. */
    freeze(consumerId: ConsumerId, freeze: Freeze): Effect.Effect<void, StoreUnavailable>
    /** False if the account is not frozen. */
    unfreeze(consumerId: ConsumerId): Effect.Effect<boolean, StoreUnavailable>
    find(consumerId: ConsumerId): Effect.Effect<Option.Option<Freeze>, StoreUnavailable>
    findAll(ids: ReadonlyArray<ConsumerId>): Effect.Effect<ReadonlyMap<ConsumerId, Freeze>, StoreUnavailable>
    /** Ids after `after`, in order. */
    frozen(after: ConsumerId | undefined, limit: number): Effect.Effect<ReadonlyArray<ConsumerId>, StoreUnavailable>
  }
>()("agent-tool-billing/domain/payments/FreezeStore") {}

const REVIEWED_AT_ONCE_MAX = 500

export class AccountFreezes extends Context.Service<
  AccountFreezes,
  {
    /** Freezes or unfreezes, according to chargebacks and debt. */
    review(consumerId: ConsumerId): Effect.Effect<void, StoreUnavailable>
    /** Reviews every frozen account: a refund or a credit may have paid the debt. Returns how many were unfrozen. */
    readonly reviewAll: Effect.Effect<number, StoreUnavailable>
    /**
     * Freezes for the operator, who alone ends it: no payment and no won chargeback does. Returns whether the account
     * was frozen before.
     */
    freeze(consumerId: ConsumerId, reason: string): Effect.Effect<boolean, StoreUnavailable>
    /** Unfreezes for the operator. Chargebacks that are known by now do not freeze the account again. */
    unfreeze(consumerId: ConsumerId): Effect.Effect<boolean, StoreUnavailable>
    find(consumerId: ConsumerId): Effect.Effect<Option.Option<Freeze>, StoreUnavailable>
  }
>()("agent-tool-billing/domain/payments/AccountFreezes") {
  static readonly layer = Layer.effect(
    AccountFreezes,
    Effect.gen(function* () {
      const freezes = yield* FreezeStore
      const chargebacks = yield* ChargebackStore
      const ledger = yield* Ledger
      const entropy = yield* Entropy
      const { atomically } = yield* UnitOfWork

      /** Calls held this money when the debt arose, and released it. Returns what is still owed. */
      const payDebt = Effect.fnUntraced(function* (consumerId: ConsumerId) {
        const { availableMicrocents, owedMicrocents } = yield* ledger.lockedFunds(consumerId)
        const amount = Microcents.make(availableMicrocents < owedMicrocents ? availableMicrocents : owedMicrocents)
        if (amount <= 0n) return owedMicrocents
        const leg = { kind: "adjustment", debit: "wallet", credit: "consumer_debt", consumerId, amount } as const
        yield* dieUnlessUnavailable(ledger.post({ reference: `debt:${yield* entropy.uuid}`, legs: [leg] }))
        return owedMicrocents - amount
      })

      const review = Effect.fn("AccountFreezes.review")(function* (consumerId: ConsumerId) {
        const owed = yield* payDebt(consumerId)
        const current = Option.getOrUndefined(yield* freezes.find(consumerId))
        if (current?.byOperator === true) return
        const { held } = yield* ledger.wallet(consumerId)
        const reason = reasonOf(yield* chargebacks.ofConsumer(consumerId), owed) ?? heldReason(owed, held)
        if (reason === undefined) yield* freezes.unfreeze(consumerId)
        else yield* freezes.freeze(consumerId, { reason, at: yield* DateTime.now, byOperator: false })
      }, atomically)

      const reviewAll = roundOfPages(
        {
          pageMax: REVIEWED_AT_ONCE_MAX,
          read: (after: ConsumerId | undefined) => freezes.frozen(after, REVIEWED_AT_ONCE_MAX)
        },
        {
          failing: "Frozen accounts that could not be reviewed",
          work: (consumerId) => Effect.andThen(review(consumerId), freezes.find(consumerId))
        }
      ).pipe(
        Effect.map((reviewed) => reviewed.filter(Option.isNone).length),
        Effect.withSpan("AccountFreezes.reviewAll")
      )

      const freeze = Effect.fn("AccountFreezes.freeze")(function* (consumerId: ConsumerId, reason: string) {
        yield* ledger.lockedFunds(consumerId)
        const wasFrozen = Option.isSome(yield* freezes.find(consumerId))
        yield* freezes.freeze(consumerId, { reason, at: yield* DateTime.now, byOperator: true })
        return wasFrozen
      }, atomically)

      const unfreeze = Effect.fn("AccountFreezes.unfreeze")(function* (consumerId: ConsumerId) {
        yield* ledger.lockedFunds(consumerId)
        const now = yield* DateTime.now
        for (const one of yield* chargebacks.ofConsumer(consumerId)) {
          if (one.state !== "won") yield* chargebacks.put({ ...one, released: true, updatedAt: now })
        }
        return yield* freezes.unfreeze(consumerId)
      }, atomically)

      return AccountFreezes.of({ review, reviewAll, freeze, unfreeze, find: freezes.find })
    })
  )
}

/** What calls release pays the debt before it can be spent. */
const heldReason = (owedMicrocents: bigint, held: bigint): string | undefined =>
  owedMicrocents > 0n && held > 0n
    ? `A payment of this account was refunded while calls were in flight, and ${formatDollars(owedMicrocents)} is owed. The account is unfrozen when they have ended.`
    : undefined

/** Undefined: the account is not frozen. */
const reasonOf = (chargebacks: ReadonlyArray<Chargeback>, owedMicrocents: bigint): string | undefined => {
  const standing = chargebacks.filter(({ released }) => !released)
  const open = standing.find(({ state }) => state === "open")
  if (open !== undefined) {
    return `A payment of this account is disputed at the bank (chargeback ${open.id}). The account is unfrozen when the chargeback is withdrawn or won.`
  }
  const lost = standing.find(({ state }) => state === "lost")
  if (lost === undefined || owedMicrocents <= 0n) return undefined
  return `A payment of this account was charged back (chargeback ${lost.id}), and ${formatDollars(owedMicrocents)} is owed. Add funds to pay the debt.`
}

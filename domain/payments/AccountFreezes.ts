/**
 * When a consumer's account is frozen: while a chargeback is open, after a lost one until the debt is paid, and while
 * calls hold money that was refunded meanwhile. The operator may unfreeze it earlier, and freeze any account.
 */
import { Context, DateTime, Effect, Layer, Option } from "effect"
import { Ledger } from "../ledger/Ledger.ts"
import { Entropy } from "../shared/Entropy.ts"
import type { ConsumerId } from "../shared/Ids.ts"
import { formatDollars, Microcents } from "../shared/Microcents.ts"
import { roundOfPages } from "../shared/Round.ts"
import { UnitOfWork } from "../shared/UnitOfWork.ts"
import { type Chargeback, ChargebackStore } from "./ChargebackStore.ts"
import { type Freeze, FreezeStore } from "./FreezeStore.ts"
import { dieUnlessUnavailable, type StoreUnavailable } from "../shared/StoreUnavailable.ts"

const REVIEWED_AT_ONCE_MAX = 500

export class AccountFreezes extends Context.Service<
  AccountFreezes,
  {
    /** Freezes or unfreezes, according to chargebacks and debt. */
    review(consumerId: ConsumerId): Effect.Effect<void, StoreUnavailable>
    /** Reviews every frozen account: a refund or a credit may have paid the debt. Returns how many were unfrozen. */
    readonly reviewAll: Effect.Effect<number, StoreUnavailable>
    /**
     * By the operator, who alone ends it: no payment and no won chargeback does. Returns whether the account was frozen
     * before.
     */
    freeze(consumerId: ConsumerId, reason: string): Effect.Effect<boolean, StoreUnavailable>
    /** By the operator. Chargebacks that are known by now do not freeze the account again. */
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

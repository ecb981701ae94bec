/**
 * When a consumer's account is frozen: while a chargeback of one of its payments is open, and after one that was lost until
 * the debt is paid. The operator may unfreeze it before that.
 */
import { Context, DateTime, Effect, Layer, Option } from "effect"
import { LedgerStore } from "../ledger/LedgerStore.ts"
import type { ConsumerId } from "../shared/Ids.ts"
import { formatDollars } from "../shared/Microcents.ts"
import { UnitOfWork } from "../shared/UnitOfWork.ts"
import { type Chargeback, ChargebackStore } from "./ChargebackStore.ts"
import { type Freeze, FreezeStore } from "./FreezeStore.ts"

const REVIEWED_AT_ONCE_MAX = 500

export class AccountFreezes extends Context.Service<
  AccountFreezes,
  {
    /** Freezes or unfreezes, as the chargebacks and the debt stand now. */
    review(consumerId: ConsumerId): Effect.Effect<void>
    /** Every frozen account: a debt may have been paid by a refund or a credit. Says how many are no longer frozen. */
    readonly reviewAll: Effect.Effect<number>
    /** By the operator, whatever stands. Chargebacks that are known by now do not freeze the account again. */
    unfreeze(consumerId: ConsumerId): Effect.Effect<boolean>
    find(consumerId: ConsumerId): Effect.Effect<Option.Option<Freeze>>
  }
>()("agent-tool-billing/domain/payments/AccountFreezes") {
  static readonly layer = Layer.effect(
    AccountFreezes,
    Effect.gen(function* () {
      const freezes = yield* FreezeStore
      const chargebacks = yield* ChargebackStore
      const ledger = yield* LedgerStore
      const { atomically } = yield* UnitOfWork

      const review = Effect.fn("AccountFreezes.review")(function* (consumerId: ConsumerId) {
        const { owedMicrocents } = yield* ledger.lockedStanding(consumerId)
        const reason = reasonOf(yield* chargebacks.ofConsumer(consumerId), owedMicrocents)
        if (reason === undefined) yield* freezes.unfreeze(consumerId)
        else yield* freezes.freeze(consumerId, { reason, at: yield* DateTime.now })
      }, atomically)

      const reviewAll = Effect.gen(function* () {
        let unfrozen = 0
        let after: ConsumerId | undefined
        while (true) {
          const page: ReadonlyArray<ConsumerId> = yield* freezes.frozen(after, REVIEWED_AT_ONCE_MAX)
          for (const consumerId of page) {
            yield* review(consumerId)
            if (Option.isNone(yield* freezes.find(consumerId))) unfrozen++
          }
          if (page.length < REVIEWED_AT_ONCE_MAX) return unfrozen
          after = page.at(-1)
        }
      }).pipe(Effect.withSpan("AccountFreezes.reviewAll"))

      const unfreeze = Effect.fn("AccountFreezes.unfreeze")(function* (consumerId: ConsumerId) {
        yield* ledger.lockedStanding(consumerId)
        const now = yield* DateTime.now
        for (const one of yield* chargebacks.ofConsumer(consumerId)) {
          if (one.state !== "won") yield* chargebacks.put({ ...one, released: true, updatedAt: now })
        }
        return yield* freezes.unfreeze(consumerId)
      }, atomically)

      return AccountFreezes.of({ review, reviewAll, unfreeze, find: freezes.find })
    })
  )
}

/** Undefined: nothing freezes the account. */
const reasonOf = (chargebacks: ReadonlyArray<Chargeback>, owedMicrocents: bigint): string | undefined => {
  const standing = chargebacks.filter(({ released }) => !released)
  const open = standing.find(({ state }) => state === "open")
  if (open !== undefined) {
    return `A payment of this account is disputed at the bank (${open.id}). It is unfrozen when the dispute is withdrawn or won.`
  }
  const lost = standing.find(({ state }) => state === "lost")
  if (lost === undefined || owedMicrocents <= 0n) return undefined
  return `A payment of this account was charged back (${lost.id}), and ${formatDollars(owedMicrocents)} are owed. Loads pay the debt first.`
}

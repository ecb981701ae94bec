/**
 * The first step of a payout: drafts it and reserves its money in the ledger, in one unit of work.
 */
import { DateTime, Effect, Option, Schema } from "effect"
import { Ledger } from "../ledger/Ledger.ts"
import type { PaymentsNotConfigured } from "../ledger/PaymentGateway.ts"
import { LOTS_PER_POSTING_MAX, takeFrom, totalOfParts } from "../ledger/Transfer.ts"
import type { PayoutId, ProviderId } from "../shared/Ids.ts"
import { fromCents, toCents } from "../shared/Microcents.ts"
import { UnitOfWork } from "../shared/StoreUnavailable.ts"
import { Claims } from "./Claims.ts"
import { PayeeStore, type Payout, payoutReference, PayoutStore, reservingLegs } from "./PayoutStore.ts"
import { ProviderMoney } from "./ProviderMoney.ts"

export const PAYOUT_CENTS_MIN = 1_000

/** The available balance is smaller than the least amount that is paid out. It stays where it is. */
export class BelowMinimum extends Schema.TaggedError<BelowMinimum>()("BelowMinimum", { balanceCents: Schema.Int }) {
  override get message() {
    return `A payout is at least $${PAYOUT_CENTS_MIN / 100}.00 and $${(this.balanceCents / 100).toFixed(2)} is available.`
  }
}

/** The provider has no account at the processor that can receive money. The balance stays. */
export class NotOnboarded extends Schema.TaggedError<NotOnboarded>()("NotOnboarded", {}) {
  override get message() {
    return "The payment processor cannot pay you yet. Complete your account first."
  }
}

/** Why no payout was started. The balance is unchanged. */
export type PayoutRejected = BelowMinimum | NotOnboarded | PaymentsNotConfigured

export const makePayoutOpening = Effect.gen(function* () {
  const store = yield* PayoutStore
  const payees = yield* PayeeStore
  const ledger = yield* Ledger
  const money = yield* ProviderMoney
  const claims = yield* Claims
  const { atomically } = yield* UnitOfWork

  /** What the provider owes is not paid out, even if one collection does not pay all claims. */
  const payableOf = Effect.fnUntraced(function* (providerId: ProviderId, availableMicrocents: bigint) {
    const left = availableMicrocents - (yield* claims.owedBy(providerId))
    return left > 0n ? toCents(left) : 0
  })

  const payableCents = Effect.fn("Payouts.payableCents")(function* (providerId: ProviderId) {
    const { availableMicrocents, isFrozen } = yield* money.holdings(providerId)
    return yield* payableOf(providerId, isFrozen ? 0n : availableMicrocents)
  })

  /** Undefined if another request was first. */
  const reserve = Effect.fnUntraced(function* (payout: Payout) {
    if (!(yield* store.insert(payout))) return undefined
    const { available, isFrozen } = yield* money.holdings(payout.providerId)
    const parts = takeFrom(isFrozen ? [] : available, fromCents(payout.amountCents))
    const covered = totalOfParts(parts)
    // Money moved, or the provider was frozen, since the payout was drafted; or it is in more lots than one posting takes from.
    if (covered < fromCents(payout.amountCents)) return yield* new BelowMinimum({ balanceCents: toCents(covered) })
    yield* ledger.post({ reference: payoutReference(payout.id), legs: reservingLegs(payout.providerId, parts) })
    return payout
  })

  const draft = Effect.fnUntraced(function* (id: PayoutId, providerId: ProviderId, accountId: string) {
    const { available, isFrozen } = yield* money.holdings(providerId)
    const most = isFrozen ? 0n : totalOfParts(available.slice(0, LOTS_PER_POSTING_MAX))
    const amountCents = yield* payableOf(providerId, most)
    if (amountCents < PAYOUT_CENTS_MIN) return yield* new BelowMinimum({ balanceCents: amountCents })
    const now = yield* DateTime.now
    const payout: Payout = {
      id,
      providerId,
      accountId,
      amountCents,
      state: "requested",
      transferId: undefined,
      failure: undefined,
      reversedCents: 0,
      attempts: 0,
      nextAttemptAt: now,
      createdAt: now,
      paidAt: undefined
    }
    return payout
  })

  /** The payout of this id, the open one, or a new one, which is only reserved. `repeated`: it existed already. */
  const open = Effect.fnUntraced(function* (id: PayoutId, providerId: ProviderId) {
    const status = Option.getOrUndefined(yield* payees.find(providerId))?.status
    const known = yield* store.find(id)
    const inTransit = Option.isSome(known) ? known : yield* store.openOf(providerId)
    if (Option.isSome(inTransit)) return { payout: inTransit.value, repeated: true }
    // Refunds that the provider owes are paid first.
    yield* claims.collect(providerId)
    const payout = yield* draft(id, providerId, status?.accountId ?? "")
    if (status === undefined || !status.payoutsEnabled) return yield* new NotOnboarded()
    const reserved = yield* atomically(reserve(payout)).pipe(
      Effect.catchTags({
        // The balance decreased meanwhile, by a refund or another payout.
        InsufficientBalance: ({ availableMicrocents }) =>
          Effect.fail(new BelowMinimum({ balanceCents: Math.max(0, toCents(availableMicrocents)) })),
        DuplicateReference: Effect.die
      })
    )
    if (reserved !== undefined) return { payout: reserved, repeated: false }
    const winner = yield* store.find(id)
    const other = Option.isSome(winner) ? winner : yield* store.openOf(providerId)
    if (Option.isSome(other)) return { payout: other.value, repeated: true }
    return yield* new BelowMinimum({ balanceCents: Math.max(0, yield* payableCents(providerId)) })
  })

  return { open, payableCents }
})

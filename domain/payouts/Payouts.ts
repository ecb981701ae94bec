/**
 * Pays a provider. The ledger reserves the money before the processor is asked; the processor's transfer carries the
 * payout's id, so it is made once; its result posts the money or returns it. After a crash between any two steps,
 * `work` continues the payout.
 */
import { Context, DateTime, Effect, Layer, Option, Schema } from "effect"
import { Ledger } from "../ledger/Ledger.ts"
import { LOTS_PER_POSTING_MAX, takeFrom, totalOfParts } from "../ledger/Lots.ts"
import { uuidFrom } from "../payments/Loads.ts"
import { PaymentGateway, type PaymentsNotConfigured, type Transferred } from "../payments/PaymentGateway.ts"
import { Claims } from "../refunds/Claims.ts"
import { Digest } from "../shared/Digest.ts"
import { Entropy } from "../shared/Entropy.ts"
import { PayoutId, type ProviderId } from "../shared/Ids.ts"
import { fromCents, toCents } from "../shared/Microcents.ts"
import { roundOfPages } from "../shared/Round.ts"
import { UnitOfWork } from "../shared/UnitOfWork.ts"
import { PayeeStore } from "./PayeeStore.ts"
import { makePayoutAttempts, WORKED_AT_ONCE_MAX } from "./PayoutAttempts.ts"
import { payoutReference, reservingLegs } from "./PayoutLegs.ts"
import { type Payout, PayoutStore } from "./PayoutStore.ts"
import { ProviderMoney } from "./ProviderMoney.ts"
import type { StoreUnavailable } from "../shared/StoreUnavailable.ts"

export const PAYOUT_CENTS_MIN = 1_000
export const PAYOUT_HISTORY_MAX = 100
const AUTOMATIC_PAYOUT_DAYS = 3

export class BelowMinimum extends Schema.TaggedError<BelowMinimum>()("BelowMinimum", { balanceCents: Schema.Int }) {
  override get message() {
    return `A payout is at least $${PAYOUT_CENTS_MIN / 100}.00 and $${(this.balanceCents / 100).toFixed(2)} is available.`
  }
}

export class NotOnboarded extends Schema.TaggedError<NotOnboarded>()("NotOnboarded", {}) {
  override get message() {
    return "The payment processor cannot pay you yet. Complete your account first."
  }
}

export type PayoutAnswer =
  | { readonly mode: "dry_run"; readonly wouldPayoutCents: number }
  | { readonly mode: "live"; readonly payout: Payout; readonly repeated: boolean }

export type PayoutRejected = BelowMinimum | NotOnboarded | PaymentsNotConfigured

export interface OpenedPayout {
  readonly payout: Payout
  /** It existed already. */
  readonly repeated: boolean
}

export class Payouts extends Context.Service<
  Payouts,
  {
    /** Pays all available whole cents. One payout of a provider at a time: further requests return it. */
    request(providerId: ProviderId): Effect.Effect<PayoutAnswer, PayoutRejected | StoreUnavailable>
    /** The payout of this id, the open one, or a new one, which is only reserved. */
    open(id: PayoutId, providerId: ProviderId): Effect.Effect<OpenedPayout, PayoutRejected | StoreUnavailable>
    /** One attempt; returns the payout after it. */
    advance(id: PayoutId): Effect.Effect<Payout, StoreUnavailable>
    /** Continues interrupted payouts; returns how many ended. */
    readonly work: Effect.Effect<number, StoreUnavailable>
    /** The processor reversed a transfer or a part of it. */
    reversed(id: PayoutId, transfer: Transferred): Effect.Effect<void, StoreUnavailable>
    payableCents(providerId: ProviderId): Effect.Effect<number, StoreUnavailable>
    history(providerId: ProviderId): Effect.Effect<ReadonlyArray<Payout>, StoreUnavailable>
    /** Pays every provider with automatic payouts, at most once a month. Returns how many were requested. */
    readonly payAutomatically: Effect.Effect<number, StoreUnavailable>
  }
>()("agent-tool-billing/domain/payouts/Payouts") {
  static readonly layer = Layer.effect(
    Payouts,
    Effect.gen(function* () {
      const store = yield* PayoutStore
      const payees = yield* PayeeStore
      const ledger = yield* Ledger
      const money = yield* ProviderMoney
      const claims = yield* Claims
      const gateway = yield* PaymentGateway
      const entropy = yield* Entropy
      const { sha256Hex } = yield* Digest
      const { advance, reversed, work } = yield* makePayoutAttempts
      const { atomically } = yield* UnitOfWork

      /** What the provider owes is not paid out, even if one collection does not pay all claims. */
      const payableOf = Effect.fnUntraced(function* (providerId: ProviderId, availableMicrocents: bigint) {
        const left = availableMicrocents - (yield* claims.owedBy(providerId))
        return left > 0n ? toCents(left) : 0
      })

      const payableCents = Effect.fn("Payouts.payableCents")(function* (providerId: ProviderId) {
        const { availableMicrocents } = yield* money.holdings(providerId)
        return yield* payableOf(providerId, availableMicrocents)
      })

      /** Undefined if another request was first. */
      const reserve = Effect.fnUntraced(function* (payout: Payout) {
        if (!(yield* store.insert(payout))) return undefined
        const { available } = yield* money.holdings(payout.providerId)
        const parts = takeFrom(available, fromCents(payout.amountCents))
        const covered = totalOfParts(parts)
        // Money moved since the payout was drafted, or is in more lots than one posting takes from.
        if (covered < fromCents(payout.amountCents)) return yield* new BelowMinimum({ balanceCents: toCents(covered) })
        yield* ledger.post({ reference: payoutReference(payout.id), legs: reservingLegs(payout.providerId, parts) })
        return payout
      })

      const draft = Effect.fnUntraced(function* (id: PayoutId, providerId: ProviderId, accountId: string) {
        const { available } = yield* money.holdings(providerId)
        const amountCents = yield* payableOf(providerId, totalOfParts(available.slice(0, LOTS_PER_POSTING_MAX)))
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

      const begin = Effect.fnUntraced(function* (id: PayoutId, providerId: ProviderId) {
        const { payout, repeated } = yield* open(id, providerId)
        return { payout: repeated ? payout : yield* advance(id), repeated }
      })

      const request = Effect.fn("Payouts.request")(function* (providerId: ProviderId) {
        if (gateway.mode === "dry_run") {
          const cents = yield* payableCents(providerId)
          if (cents < PAYOUT_CENTS_MIN) return yield* new BelowMinimum({ balanceCents: cents })
          return { mode: "dry_run" as const, wouldPayoutCents: cents }
        }
        return { mode: "live" as const, ...(yield* begin(PayoutId.make(yield* entropy.uuid), providerId)) }
      })

      const payAutomatically = Effect.gen(function* () {
        if (gateway.mode !== "live") return 0
        const month = DateTime.formatIsoDateUtc(yield* DateTime.now).slice(0, 7)
        const requested = yield* roundOfPages(
          {
            pageMax: WORKED_AT_ONCE_MAX,
            read: (after: ProviderId | undefined) => payees.automatic(after, WORKED_AT_ONCE_MAX)
          },
          {
            failing: "automatic payouts could not be made",
            work: (providerId) =>
              begin(payoutNamed(sha256Hex, providerId, `automatic ${month}`), providerId).pipe(
                Effect.map(({ repeated }) => (repeated ? 0 : 1)),
                Effect.catchTags({ BelowMinimum: () => Effect.succeed(0), NotOnboarded: () => Effect.succeed(0) })
              )
          }
        )
        return requested.reduce<number>((sum, one) => sum + one, 0)
      }).pipe(Effect.withSpan("Payouts.payAutomatically"))

      return Payouts.of({
        request,
        open,
        advance,
        work,
        reversed,
        payableCents,
        history: (providerId) => store.history(providerId, PAYOUT_HISTORY_MAX),
        payAutomatically
      })
    })
  )
}

/**
 * Automatic payouts are made on the first of a month, and on the next two days where an outage prevented them or the
 * balance reached the minimum: a payout carries the name of its month, so it is made once.
 */
export const isAutomaticPayoutDay = (now: DateTime.Utc): boolean =>
  DateTime.getPartUtc(now, "day") <= AUTOMATIC_PAYOUT_DAYS

/** The same key of a provider gives the same payout. */
export const payoutNamed = (sha256Hex: (text: string) => string, providerId: ProviderId, key: string): PayoutId =>
  PayoutId.make(uuidFrom(sha256Hex(`payout\n${providerId}\n${key}`)))

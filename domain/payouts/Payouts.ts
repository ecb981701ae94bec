/**
 * Paying a provider. The ledger reserves the money before the processor hears of it; the processor's transfer carries the
 * payout's id, so it is made once; its result posts the money or gives it back. A crash between any two steps leaves a
 * payout that `work` takes up where it stands.
 */
import { Context, DateTime, Duration, Effect, Layer, Option, Schema } from "effect"
import { Ledger } from "../ledger/Ledger.ts"
import { LOTS_PER_POSTING_MAX, takeFrom, totalOfParts } from "../ledger/Lots.ts"
import type { Leg } from "../ledger/Transfer.ts"
import {
  PaymentFailed,
  PaymentGateway,
  type PaymentsNotConfigured,
  type Transferred
} from "../payments/PaymentGateway.ts"
import { uuidFrom } from "../payments/Loads.ts"
import { Digest } from "../shared/Digest.ts"
import { Entropy } from "../shared/Entropy.ts"
import { PayoutId, type ProviderId } from "../shared/Ids.ts"
import { fromCents, toCents } from "../shared/Microcents.ts"
import { UnitOfWork } from "../shared/UnitOfWork.ts"
import { Claims } from "../refunds/Claims.ts"
import { PayeeStore } from "./PayeeStore.ts"
import { paidLeg, reservingLegs, returningLegs } from "./PayoutLegs.ts"
import { isOpen, type Payout, PayoutStore } from "./PayoutStore.ts"
import { ProviderMoney } from "./ProviderMoney.ts"

export const PAYOUT_CENTS_MIN = 1_000
export const PAYOUT_HISTORY_MAX = 100
const WORKED_AT_ONCE_MAX = 50
/** Longer than an attempt may take, so that one worker at a time has a payout in hand. */
const LEASE = Duration.minutes(2)
const PAUSE_MAX_SECONDS = 3_600

export class BelowMinimum extends Schema.TaggedError<BelowMinimum>()("BelowMinimum", { balanceCents: Schema.Int }) {
  override get message() {
    return `A payout is at least $${PAYOUT_CENTS_MIN / 100}.00 and $${(this.balanceCents / 100).toFixed(2)} is available. GET /api/market/payouts shows when your earnings become available.`
  }
}

export class NotOnboarded extends Schema.TaggedError<NotOnboarded>()("NotOnboarded", {}) {
  override get message() {
    return "The payment processor cannot pay you yet. Complete your account first: POST /api/market/connect gives the link."
  }
}

export type PayoutAnswer =
  | { readonly mode: "dry_run"; readonly wouldPayoutCents: number }
  | { readonly mode: "live"; readonly payout: Payout; readonly repeated: boolean }

export type PayoutRefused = BelowMinimum | NotOnboarded | PaymentsNotConfigured

export interface OpenedPayout {
  readonly payout: Payout
  /** It was there before. */
  readonly repeated: boolean
}

export class Payouts extends Context.Service<
  Payouts,
  {
    /** All whole cents that are available. One payout of a provider at a time: who asks meanwhile is answered with that one. */
    request(providerId: ProviderId): Effect.Effect<PayoutAnswer, PayoutRefused>
    /** The one of this id or the one that is under way, or a new one: reserved, and no more than that. */
    open(id: PayoutId, providerId: ProviderId): Effect.Effect<OpenedPayout, PayoutRefused>
    /** One attempt; the payout as it stands afterwards. */
    advance(id: PayoutId): Effect.Effect<Payout>
    /** Goes on with what was left in the middle; says how many payouts came to their end. */
    readonly work: Effect.Effect<number>
    /** The processor took a transfer back, or a part of it. */
    reversed(id: PayoutId, transfer: Transferred): Effect.Effect<void>
    payableCents(providerId: ProviderId): Effect.Effect<number>
    history(providerId: ProviderId): Effect.Effect<ReadonlyArray<Payout>>
    /** Pays every provider that wants it so, once a month however often it is called. Says how many were requested. */
    readonly payAutomatically: Effect.Effect<number>
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
      const { atomically } = yield* UnitOfWork

      const payableCents = Effect.fn("Payouts.payableCents")(function* (providerId: ProviderId) {
        const { availableMicrocents } = yield* money.holdings(providerId)
        return toCents(availableMicrocents)
      })

      const post = (payout: Payout, step: string, legs: ReadonlyArray<Leg>) =>
        ledger.post({ reference: `payout:${payout.id}${step}`, legs })

      const reservedOf = (payout: Payout) => ledger.byReference(`payout:${payout.id}`)

      /** Undefined where another request was first. */
      const reserve = Effect.fnUntraced(function* (payout: Payout) {
        if (!(yield* store.insert(payout))) return undefined
        const { available } = yield* money.holdings(payout.providerId)
        const parts = takeFrom(available, fromCents(payout.amountCents))
        const covered = totalOfParts(parts)
        // Money went elsewhere since the payout was drafted, or lies in more lots than one posting takes from.
        if (covered < fromCents(payout.amountCents)) return yield* new BelowMinimum({ balanceCents: toCents(covered) })
        yield* post(payout, "", reservingLegs(payout.providerId, parts))
        return payout
      })

      const draft = Effect.fnUntraced(function* (id: PayoutId, providerId: ProviderId, accountId: string) {
        const { available } = yield* money.holdings(providerId)
        const amountCents = toCents(totalOfParts(available.slice(0, LOTS_PER_POSTING_MAX)))
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
        const standing = Option.getOrUndefined(yield* payees.find(providerId))?.standing
        const known = yield* store.find(id)
        const underWay = Option.isSome(known) ? known : yield* store.openOf(providerId)
        if (Option.isSome(underWay)) return { payout: underWay.value, repeated: true }
        // Whom the provider owes a refund comes first.
        yield* claims.collect(providerId)
        const payout = yield* draft(id, providerId, standing?.accountId ?? "")
        if (standing === undefined || !standing.payoutsEnabled) return yield* new NotOnboarded()
        const reserved = yield* atomically(reserve(payout)).pipe(
          Effect.catchTags({
            // The balance went down meanwhile, by a refund or by another payout.
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

      /** Takes the payout in hand, unless another worker has it or it has ended. */
      const lease = Effect.fnUntraced(function* (id: PayoutId) {
        const now = yield* DateTime.now
        const found = Option.getOrUndefined(yield* store.lock(id))
        if (found === undefined || !isOpen(found) || DateTime.isGreaterThan(found.nextAttemptAt, now)) return undefined
        const taken: Payout = {
          ...found,
          state: "transferring",
          attempts: found.attempts + 1,
          nextAttemptAt: DateTime.addDuration(now, LEASE)
        }
        yield* store.update(taken)
        return { taken, first: found.state === "requested" }
      }, atomically)

      /** A processor forgets an order's id after a while: before an order is given again, it is asked for the first one. */
      const order = Effect.fnUntraced(function* (payout: Payout, first: boolean) {
        const made = first ? undefined : yield* gateway.transferOf(payout.id).pipe(Effect.mapError(unknownYet))
        if (made !== undefined) return made
        const { accountId, amountCents, id: payoutId, providerId } = payout
        return yield* gateway.transfer({ payoutId, providerId, accountId, amountCents })
      })

      /** The market's own accounts, which every payout touches, are locked last and for as short as can be. */
      const end = (
        id: PayoutId,
        step: string,
        legsOf: (payout: Payout) => Effect.Effect<ReadonlyArray<Leg>>,
        changed: (payout: Payout, now: DateTime.Utc) => Payout
      ) =>
        atomically(
          Effect.gen(function* () {
            const current = Option.getOrThrow(yield* store.lock(id))
            if (!isOpen(current)) return current
            const ended = changed(current, yield* DateTime.now)
            yield* store.update(ended)
            yield* Effect.orDie(post(ended, step, yield* legsOf(ended)))
            return ended
          })
        )

      const paid = (id: PayoutId, { transferId }: Transferred) =>
        end(
          id,
          ":paid",
          (payout) => Effect.succeed([paidLeg(payout.providerId, fromCents(payout.amountCents))]),
          (payout, now) => ({ ...payout, state: "paid", transferId, paidAt: now })
        )

      const failed = (id: PayoutId, failure: string) =>
        end(
          id,
          ":failed",
          (payout) =>
            Effect.map(reservedOf(payout), (reserved) =>
              returningLegs(reserved, "payout_clearing", { start: 0n, end: fromCents(payout.amountCents) })
            ),
          (payout) => ({ ...payout, state: "failed", failure })
        )

      const unclear = Effect.fnUntraced(function* (id: PayoutId, error: PaymentFailed) {
        const current = Option.getOrThrow(yield* store.lock(id))
        if (!isOpen(current)) return current
        yield* Effect.logWarning(`Payout ${id} is not clear after ${current.attempts} attempts: ${error.message}`)
        const pauseSeconds = Math.min(PAUSE_MAX_SECONDS, 2 ** Math.min(current.attempts, 12))
        const paused = { ...current, nextAttemptAt: DateTime.add(yield* DateTime.now, { seconds: pauseSeconds }) }
        yield* store.update(paused)
        return paused
      }, atomically)

      /** One attempt; the payout as it stands afterwards. */
      const advance = Effect.fn("Payouts.advance")(function* (id: PayoutId) {
        const leased = yield* lease(id)
        if (leased === undefined) return Option.getOrThrow(yield* store.find(id))
        return yield* order(leased.taken, leased.first).pipe(
          Effect.flatMap((made) => paid(id, made)),
          Effect.catchTag("PaymentFailed", (error) => (error.definite ? failed(id, error.reason) : unclear(id, error)))
        )
      })

      const work = Effect.gen(function* () {
        if (gateway.mode !== "live") return 0
        const due = yield* store.due(yield* DateTime.now, WORKED_AT_ONCE_MAX)
        const worked = yield* Effect.forEach(due, advance, { concurrency: 8 })
        return worked.filter((payout) => !isOpen(payout)).length
      }).pipe(Effect.withSpan("Payouts.work"))

      const reversed = Effect.fn("Payouts.reversed")(function* (id: PayoutId, transfer: Transferred) {
        const { reversedCents } = transfer
        const found = Option.getOrUndefined(yield* store.lock(id))
        if (found === undefined || found.state === "failed") return
        // What is taken back was made: the news of that may still be on its way.
        const payout = isOpen(found) ? yield* paid(id, transfer) : found
        const moreCents = reversedCents - payout.reversedCents
        if (moreCents <= 0) return
        const part = { start: fromCents(payout.reversedCents), end: fromCents(reversedCents) }
        const legs = returningLegs(yield* reservedOf(payout), "processor", part)
        yield* Effect.orDie(post(payout, `:reversed:${reversedCents}`, legs))
        const whole = reversedCents >= payout.amountCents
        yield* store.update({ ...payout, reversedCents, state: whole ? "reversed" : payout.state })
      }, atomically)

      const payAutomatically = Effect.gen(function* () {
        if (gateway.mode !== "live") return 0
        const month = DateTime.formatIsoDateUtc(yield* DateTime.now).slice(0, 7)
        let requested = 0
        let after: ProviderId | undefined
        while (true) {
          const page: ReadonlyArray<ProviderId> = yield* payees.automatic(after, WORKED_AT_ONCE_MAX)
          for (const providerId of page) {
            const id = payoutNamed(sha256Hex, providerId, `automatic ${month}`)
            const outcome = yield* Effect.result(begin(id, providerId))
            if (outcome._tag === "Success" && !outcome.success.repeated) requested++
          }
          if (page.length < WORKED_AT_ONCE_MAX) return requested
          after = page.at(-1)
        }
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

/** The same key of a provider, the same payout. */
export const payoutNamed = (sha256Hex: (text: string) => string, providerId: ProviderId, key: string): PayoutId =>
  PayoutId.make(uuidFrom(sha256Hex(`payout\n${providerId}\n${key}`)))

/** A look-up that is refused says nothing of the transfer that was looked for: it may well have been made. */
const unknownYet = ({ operation, reason }: PaymentFailed) => new PaymentFailed({ operation, reason, definite: false })

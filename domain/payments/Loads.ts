/**
 * Adds funds. In a dry run the load is simulated and paid at once. Live, the consumer pays on the processor's page, and
 * the wallet is credited when the processor reports the payment, by webhook or on request.
 */
import { Context, DateTime, Effect, Layer, Option, Schema } from "effect"
import { AccountStore } from "../accounts/Account.ts"
import { Ledger } from "../ledger/Ledger.ts"
import { LedgerStore } from "../ledger/LedgerStore.ts"
import { type CheckoutStatus, type PaymentFailed, PaymentGateway } from "../ledger/PaymentGateway.ts"
import { Digest, Entropy } from "../shared/Cryptography.ts"
import { IdempotencyConflict } from "../shared/Idempotency.ts"
import { type ConsumerId, LoadId } from "../shared/Ids.ts"
import { fromCents } from "../shared/Microcents.ts"
import { dieUnlessUnavailable, type StoreUnavailable, UnitOfWork } from "../shared/StoreUnavailable.ts"
import { format } from "../shared/Time.ts"
import { AccountFreezes } from "./AccountFreezes.ts"

/**
 * `opening`: ordered, the processor may not have received it. `mismatched`: another amount or currency was paid, and
 * nothing was credited. `paid` is final; every other state may still become `paid`.
 */
export type LoadState = "opening" | "open" | "paid" | "expired" | "failed" | "mismatched"

/** An order to add funds, from its checkout to the credit of the wallet. */
export interface Load {
  readonly id: LoadId
  readonly consumerId: ConsumerId
  readonly amountCents: number
  readonly state: LoadState
  readonly sessionId: string | undefined
  readonly checkoutUrl: string | undefined
  /** The processor's id of the payment, for refunds and chargebacks. */
  readonly paymentId: string | undefined
  /** The processor's fee; undefined until it is reported. */
  readonly feeCents: number | undefined
  readonly createdAt: DateTime.Utc
  /** The time when the wallet was credited. */
  readonly paidAt: DateTime.Utc | undefined
  /** The time of the last change or check. */
  readonly updatedAt: DateTime.Utc
}

/** A refund. `taken`: out of the wallet. `returned` is final: the money came back, or was never taken. */
export interface Reversal {
  /** The processor's id of the refund. */
  readonly id: string
  readonly loadId: LoadId
  readonly amountCents: number
  readonly state: "taken" | "returned"
}

/** A load is checked every minute at most, and ever more rarely while it is unpaid: after an eighth of its age. */
export const CHECKED_EVERY_SECONDS = 60
export const CHECKS_PER_AGE = 8

export const isCheckDue = ({ createdAt, updatedAt }: Load, now: DateTime.Utc): boolean => {
  const [ageMs, waitedMs] = [createdAt, updatedAt].map((since) => now.epochMilliseconds - since.epochMilliseconds)
  return waitedMs! >= Math.max(CHECKED_EVERY_SECONDS * 1_000, ageMs! / CHECKS_PER_AGE)
}

/** A load whose money arrived, and how much of it the processor gave back. */
export interface PaidLoad {
  readonly load: Load
  /** The amount of refunds made at the processor, without withdrawals. */
  readonly refundedCents: number
}

/** Port to loads, the reversals of their payments, and applied events of the processor. */
export class LoadStore extends Context.Service<
  LoadStore,
  {
    /** False if the id exists; nothing is changed. */
    insert(load: Load): Effect.Effect<boolean, StoreUnavailable>
    find(id: LoadId): Effect.Effect<Option.Option<Load>, StoreUnavailable>
    findByPayment(paymentId: string): Effect.Effect<Option.Option<Load>, StoreUnavailable>
    /** Locks it until the end of the unit of work. */
    lock(id: LoadId): Effect.Effect<Option.Option<Load>, StoreUnavailable>
    update(load: Load): Effect.Effect<void, StoreUnavailable>
    /** `opening` and `open` ones whose check is due: see `isCheckDue`. Longest waiting first. */
    unsettled(now: DateTime.Utc, limit: number): Effect.Effect<ReadonlyArray<Load>, StoreUnavailable>
    /** Returns a consumer's loads that are `opening`, `open`, or paid after `since`. */
    pendingOrPaidSince(
      consumerId: ConsumerId,
      since: DateTime.Utc
    ): Effect.Effect<ReadonlyArray<Load>, StoreUnavailable>
    /** Paid loads of a consumer, newest first. */
    paidOf(consumerId: ConsumerId, limit: number): Effect.Effect<ReadonlyArray<PaidLoad>, StoreUnavailable>
    /** Returns loads paid since then with an unknown fee, longest waiting first. */
    withoutFee(paidSince: DateTime.Utc, limit: number): Effect.Effect<ReadonlyArray<Load>, StoreUnavailable>
    /** Counts loads that are `opening` or `open`. */
    unsettledOf(consumerId: ConsumerId): Effect.Effect<number, StoreUnavailable>
    reversal(id: string): Effect.Effect<Option.Option<Reversal>, StoreUnavailable>
    putReversal(reversal: Reversal): Effect.Effect<void, StoreUnavailable>
    /** False if the event was applied already. Waits for another unit of work that has claimed it. */
    claimEvent(eventId: string, at: DateTime.Utc): Effect.Effect<boolean, StoreUnavailable>
    /** Removes events that were claimed before; returns how many. */
    forgetEvents(before: DateTime.Utc, limit: number): Effect.Effect<number, StoreUnavailable>
  }
>()("agent-tool-billing/domain/payments/LoadStore") {}

// Limits what a new account loads per day. Stolen cards are tested with loads; this bounds the loss until the first
// chargeback.

export const NEW_ACCOUNT_DAYS = 30
export const NEW_ACCOUNT_LOAD_CENTS_PER_DAY = 100_000
const WINDOW_HOURS = 24

/** The daily load limit of a new account in cents; 0: no limit. Default: 100,000 with a processor, else no limit. */
export const NewAccountLoadLimit = Context.Reference<number | undefined>(
  "agent-tool-billing/domain/payments/NewAccountLoadLimit",
  { defaultValue: () => undefined }
)

const dollars = (cents: number): string => `$${(cents / 100).toFixed(2)}`

/** A new account adds a limited amount a day, because stolen cards are used up quickly. */
export class LoadLimitReached extends Schema.TaggedError<LoadLimitReached>()("LoadLimitReached", {
  amountCents: Schema.Int,
  limitCents: Schema.Int,
  leftCents: Schema.Int,
  /** The time when this amount fits. */
  retryAt: Schema.String
}) {
  override get message() {
    return (
      `An account loads at most ${dollars(this.limitCents)} in 24 hours during its first ${NEW_ACCOUNT_DAYS} days, open ` +
      `checkouts included; ${dollars(this.leftCents)} is left. You can load ${dollars(this.amountCents)} from ` +
      `${this.retryAt}.`
    )
  }
}

/** Call it in the unit of work that inserts the load: loads of one consumer then run one after the other. */
export const makeLoadLimit = Effect.gen(function* () {
  const accounts = yield* AccountStore
  const ledger = yield* LedgerStore
  const store = yield* LoadStore
  const gateway = yield* PaymentGateway
  const configured = yield* NewAccountLoadLimit
  const limitCents = configured ?? (gateway.mode === "live" ? NEW_ACCOUNT_LOAD_CENTS_PER_DAY : 0)

  return Effect.fnUntraced(function* (consumerId: ConsumerId, amountCents: number, now: DateTime.Utc) {
    if (limitCents === 0) return
    const account = Option.getOrUndefined(yield* accounts.findConsumer(consumerId))
    const limitEndsAt = DateTime.add(account?.createdAt ?? now, { days: NEW_ACCOUNT_DAYS })
    if (DateTime.isGreaterThanOrEqualTo(now, limitEndsAt)) return
    // Locks the wallet.
    yield* ledger.lockedFunds(consumerId)
    const counted = yield* store.pendingOrPaidSince(consumerId, DateTime.subtract(now, { hours: WINDOW_HOURS }))
    const leftCents = Math.max(0, limitCents - counted.reduce((sum, load) => sum + load.amountCents, 0))
    if (amountCents <= leftCents) return
    const fits = amountCents > limitCents ? limitEndsAt : freeAt(counted, amountCents - leftCents)
    return yield* new LoadLimitReached({
      amountCents,
      limitCents,
      leftCents,
      retryAt: format(DateTime.isLessThan(fits, limitEndsAt) ? fits : limitEndsAt)
    })
  })
})

/** Returns when that much of the counted loads is a day old. An open checkout expires by then. */
const freeAt = (counted: ReadonlyArray<Load>, neededCents: number): DateTime.Utc => {
  const byAge = counted
    .map((load) => ({
      cents: load.amountCents,
      at: DateTime.add(load.paidAt ?? load.createdAt, { hours: WINDOW_HOURS })
    }))
    .toSorted((a, b) => a.at.epochMilliseconds - b.at.epochMilliseconds)
  let freed = 0
  return byAge.find(({ cents }) => (freed += cents) >= neededCents)?.at ?? byAge.at(-1)!.at
}

export const LOAD_CENTS_MIN = 100
export const LOAD_CENTS_MAX = 100_000
/** The currency of all amounts, as payment processors write it. */
export const CURRENCY = "usd"

/** The processor's page sends the payer there afterward. */
export class CheckoutReturn extends Context.Service<
  CheckoutReturn,
  { readonly successUrl: string; readonly cancelUrl: string }
>()("agent-tool-billing/domain/payments/CheckoutReturn") {}

/** A consumer's order to add funds: a whole number of cents. */
export interface LoadRequest {
  readonly consumerId: ConsumerId
  readonly amountCents: number
  /** The caller's idempotency key: the same key is the same load. */
  readonly key: string | undefined
}

/** In dry run the wallet is credited at once; live the payer goes to a checkout first. */
export type Loaded =
  | {
      readonly mode: "dry_run"
      readonly previousMicrocents: bigint
      readonly newMicrocents: bigint
    }
  | {
      readonly mode: "live"
      readonly checkoutUrl: string
      readonly sessionId: string
      readonly repeated: boolean
    }

export class Loads extends Context.Service<
  Loads,
  {
    readonly mode: PaymentGateway["Service"]["mode"]
    load(
      request: LoadRequest
    ): Effect.Effect<Loaded, LoadLimitReached | PaymentFailed | IdempotencyConflict | StoreUnavailable>
    /** Applies the processor's state of a checkout; the wallet is credited once, however often it is reported. */
    settle(checkout: CheckoutStatus): Effect.Effect<void, StoreUnavailable>
    /** Orders the checkout of a load again: the same order, so the processor creates no second one. */
    open(load: Load): Effect.Effect<Load, PaymentFailed | StoreUnavailable>
    /** Payments since the service started whose amount or currency was not the one of their load. */
    mismatched(): number
  }
>()("agent-tool-billing/domain/payments/Loads") {
  static readonly layer = Layer.effect(
    Loads,
    Effect.gen(function* () {
      const store = yield* LoadStore
      const gateway = yield* PaymentGateway
      const ledger = yield* Ledger
      const entropy = yield* Entropy
      const { sha256Hex } = yield* Digest
      const { atomically } = yield* UnitOfWork
      const returning = yield* CheckoutReturn

      const freezes = yield* AccountFreezes
      const withinLimit = yield* makeLoadLimit
      let mismatched = 0

      const simulate = Effect.fnUntraced(function* ({ amountCents, consumerId }: LoadRequest) {
        const id = LoadId.make(yield* entropy.uuid)
        const now = yield* DateTime.now
        const amount = fromCents(amountCents)
        yield* withinLimit(consumerId, amountCents, now)
        yield* store.insert({
          ...freshLoad(id, consumerId, amountCents, now),
          state: "paid",
          paymentId: `dry_run_payment_${id}`,
          feeCents: 0,
          paidAt: now
        })
        yield* ledger.load({ consumerId, amount, reference: referenceOf(id) }).pipe(dieUnlessUnavailable)
        const { credits, debits } = yield* ledger.wallet(consumerId)
        const balance = credits - debits
        return { mode: "dry_run" as const, previousMicrocents: balance - amount, newMicrocents: balance }
      }, atomically)

      const open = Effect.fn("Loads.open")(function* (load: Load) {
        const checkout = yield* gateway.checkout({
          loadId: load.id,
          consumerId: load.consumerId,
          amountCents: load.amountCents,
          ...returning
        })
        const now = yield* DateTime.now
        return yield* atomically(
          Effect.gen(function* () {
            const current = Option.getOrElse(yield* store.lock(load.id), () => load)
            // It may have been paid or ended meanwhile: then it stays.
            const state = current.state === "opening" ? "open" : current.state
            const opened = {
              ...current,
              state,
              sessionId: checkout.sessionId,
              checkoutUrl: checkout.url,
              updatedAt: now
            }
            yield* store.update(opened)
            return opened
          })
        )
      })

      /** The limit does not apply again to a known load. */
      const order = Effect.fnUntraced(function* (fresh: Load) {
        const earlier = yield* store.find(fresh.id)
        if (Option.isSome(earlier)) return { inserted: false, known: earlier.value }
        yield* withinLimit(fresh.consumerId, fresh.amountCents, fresh.createdAt)
        const inserted = yield* store.insert(fresh)
        return { inserted, known: inserted ? fresh : Option.getOrElse(yield* store.find(fresh.id), () => fresh) }
      }, atomically)

      const live = Effect.fnUntraced(function* ({ amountCents, consumerId, key }: LoadRequest) {
        const id = LoadId.make(
          key === undefined ? yield* entropy.uuid : uuidFrom(sha256Hex(`load\n${consumerId}\n${key}`))
        )
        const fresh = freshLoad(id, consumerId, amountCents, yield* DateTime.now)
        const { inserted, known } = yield* order(fresh)
        if (known.amountCents !== amountCents) return yield* new IdempotencyConflict({ reason: "other_request" })
        const opened = known.checkoutUrl === undefined ? yield* open(known) : known
        return {
          mode: "live" as const,
          checkoutUrl: opened.checkoutUrl!,
          sessionId: opened.sessionId!,
          repeated: !inserted
        }
      })

      const load = Effect.fn("Loads.load")(function* (request: LoadRequest) {
        return gateway.mode === "dry_run" ? yield* simulate(request) : yield* live(request)
      })

      /** Needs a person: a retry would have the same result, so neither webhook nor reconciler tries again. */
      const mismatch = Effect.fnUntraced(function* (load: Load, checkout: CheckoutStatus) {
        const { amountCents, currency, paymentId, sessionId } = checkout
        if (load.state === "mismatched") return
        mismatched++
        yield* Effect.logError(
          `Load ${load.id} was ordered over ${load.amountCents} cents ${CURRENCY}, but ${amountCents} cents ${currency} were ` +
            `paid as ${paymentId ?? sessionId}. Nothing was credited.`
        )
        yield* store.update({
          ...load,
          state: "mismatched",
          sessionId,
          paymentId: paymentId ?? load.paymentId,
          updatedAt: yield* DateTime.now
        })
      })

      const settle = Effect.fn("Loads.settle")(function* (checkout: CheckoutStatus) {
        const found = yield* store.lock(checkout.loadId)
        if (Option.isNone(found)) return yield* Effect.logWarning(`There is no load ${checkout.loadId} here`)
        const load = found.value
        if (load.state === "paid") return
        const { paymentId, sessionId } = checkout
        if (checkout.state === "paid" && !isAsOrdered(load, checkout)) return yield* mismatch(load, checkout)
        if (checkout.state === "paid") {
          const reference = referenceOf(load.id)
          const amount = fromCents(load.amountCents)
          yield* ledger.load({ consumerId: load.consumerId, amount, reference }).pipe(dieUnlessUnavailable)
          // It may have paid the debt of a lost chargeback.
          yield* freezes.review(load.consumerId)
        }
        const open = load.state === "opening" || load.state === "open"
        const now = yield* DateTime.now
        yield* store.update({
          ...load,
          state: checkout.state === "paid" || open ? checkout.state : load.state,
          sessionId,
          paymentId: paymentId ?? load.paymentId,
          paidAt: checkout.state === "paid" ? now : undefined,
          updatedAt: now
        })
      }, atomically)

      return Loads.of({ mode: gateway.mode, load, mismatched: () => mismatched, open, settle })
    })
  )
}

const freshLoad = (id: LoadId, consumerId: ConsumerId, amountCents: number, now: DateTime.Utc): Load => ({
  id,
  consumerId,
  amountCents,
  state: "opening",
  sessionId: undefined,
  checkoutUrl: undefined,
  paymentId: undefined,
  feeCents: undefined,
  createdAt: now,
  paidAt: undefined,
  updatedAt: now
})

/** The paid amount. */
export const isAsOrdered = (load: Load, { amountCents, currency }: CheckoutStatus): boolean =>
  amountCents === load.amountCents && currency === CURRENCY

const referenceOf = (id: LoadId): string => `load:${id}`

/** The first half of a hash as a UUID of version 8 (RFC 9562: made by the application). */
export const uuidFrom = (sha256Hex: string): string => {
  const digits = sha256Hex.slice(0, 32)
  return [
    digits.slice(0, 8),
    digits.slice(8, 12),
    `8${digits.slice(13, 16)}`,
    `8${digits.slice(17, 20)}`,
    digits.slice(20)
  ].join("-")
}

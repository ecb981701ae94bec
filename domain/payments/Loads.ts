/**
 * Adds funds. In a dry run the load is simulated and paid at once. Live, the consumer pays on the processor's page, and
 * the wallet is credited when the processor reports the payment, by webhook or on request.
 */
import { Context, DateTime, Effect, Layer, Option } from "effect"
import { Ledger } from "../ledger/Ledger.ts"
import { Digest } from "../shared/Digest.ts"
import { Entropy } from "../shared/Entropy.ts"
import { IdempotencyConflict } from "../shared/Idempotency.ts"
import { type ConsumerId, LoadId } from "../shared/Ids.ts"
import { fromCents } from "../shared/Microcents.ts"
import { UnitOfWork } from "../shared/UnitOfWork.ts"
import { AccountFreezes } from "./AccountFreezes.ts"
import { MismatchTally } from "./MismatchTally.ts"
import { type Load, LoadStore } from "./LoadStore.ts"
import { type LoadLimitReached, makeLoadLimit } from "./LoadLimit.ts"
import { type CheckoutStatus, type PaymentFailed, PaymentGateway } from "../ledger/PaymentGateway.ts"
import { dieUnlessUnavailable, type StoreUnavailable } from "../shared/StoreUnavailable.ts"

export const LOAD_CENTS_MIN = 100
export const LOAD_CENTS_MAX = 100_000
/** The currency of all amounts, as payment processors write it. */
export const CURRENCY = "usd"

/** Where the processor's page sends the payer afterward. */
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

/** What a load led to: in dry run the wallet is credited at once, live the payer goes to a checkout first. */
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
      const tally = yield* MismatchTally

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
        tally.count()
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

      return Loads.of({ mode: gateway.mode, load, open, settle })
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

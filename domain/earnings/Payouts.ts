/**
 * Earnings and payouts of providers. The ledger reserves the money before the processor is asked; the processor's
 * transfer carries the payout's id, so it is made once; its result posts the money or returns it. After a crash between
 * any two steps, `work` continues the payout.
 */
import { Context, DateTime, Duration, Effect, Layer, Option, Schema } from "effect"
import { AccountStore } from "../accounts/Account.ts"
import { Ledger } from "../ledger/Ledger.ts"
import {
  type OnboardingLink,
  type PayeeStatus,
  PaymentFailed,
  PaymentGateway,
  PaymentsNotConfigured,
  type Transferred
} from "../ledger/PaymentGateway.ts"
import { type Leg, LOTS_PER_POSTING_MAX, takeFrom, totalOfParts } from "../ledger/Transfer.ts"
import { AccountFrozen } from "../metering/CallRejections.ts"
import { uuidFrom } from "../payments/Loads.ts"
import { Digest, Entropy } from "../shared/Cryptography.ts"
import { Idempotency, type IdempotencyConflict, type IdempotencyInFlight } from "../shared/Idempotency.ts"
import { PayoutId, type ProviderId } from "../shared/Ids.ts"
import { fromCents, toCents } from "../shared/Microcents.ts"
import { round, roundOfPages } from "../shared/Round.ts"
import { dieUnlessUnavailable, type StoreUnavailable, UnitOfWork } from "../shared/StoreUnavailable.ts"
import { Claims } from "./Claims.ts"
import {
  type EarningsPeriod,
  type EarningsSummary,
  makeEarnings,
  type ProviderHoldings,
  ProviderMoney
} from "./Earnings.ts"
import {
  isOpen,
  paidLeg,
  type Payee,
  PayeeStore,
  type Payout,
  payoutReference,
  PayoutStore,
  reservingLegs,
  returningLegs
} from "./PayoutStore.ts"

// Executes a payout whose money is reserved. The processor's transfer carries the payout's id, so it is made once; its
// result posts the money or returns it to its lots. After a crash between any two steps, `work` continues the payout.

export const WORKED_AT_ONCE_MAX = 50
/** Any attempt takes less time, so one worker at a time processes a payout. */
const LEASE = Duration.minutes(2)
const PAUSE_MAX_SECONDS = 3_600

export const makePayoutAttempts = Effect.gen(function* () {
  const store = yield* PayoutStore
  const ledger = yield* Ledger
  const gateway = yield* PaymentGateway
  const { atomically } = yield* UnitOfWork

  const post = (payout: Payout, step: string, legs: ReadonlyArray<Leg>) =>
    ledger.post({ reference: `${payoutReference(payout.id)}${step}`, legs })

  const reservedOf = (payout: Payout) => ledger.byReference(payoutReference(payout.id))

  /** Claims the payout, unless another worker has it or it has ended. */
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

  /** A processor forgets an order's id after a while: before an order is repeated, the first one is looked up. */
  const order = Effect.fnUntraced(function* (payout: Payout, first: boolean) {
    const made = first ? undefined : yield* gateway.transferOf(payout.id).pipe(Effect.mapError(unknownYet))
    const { accountId, amountCents, id: payoutId, providerId } = payout
    const transfer = made ?? (yield* gateway.transfer({ payoutId, providerId, accountId, amountCents }))
    if (transfer.amountCents === amountCents) return transfer
    const reason = `transfer ${transfer.transferId} has ${transfer.amountCents} cents, the payout ${amountCents}`
    return yield* new PaymentFailed({ operation: "transfer", definite: false, reason })
  })

  /** The platform's own accounts, which every payout touches, are locked last and briefly. */
  const end = (
    id: PayoutId,
    step: string,
    legsOf: (payout: Payout) => Effect.Effect<ReadonlyArray<Leg>, StoreUnavailable>,
    changed: (payout: Payout, now: DateTime.Utc) => Payout
  ) =>
    atomically(
      Effect.gen(function* () {
        const current = Option.getOrThrow(yield* store.lock(id))
        if (!isOpen(current)) return current
        const ended = changed(current, yield* DateTime.now)
        yield* store.update(ended)
        yield* dieUnlessUnavailable(post(ended, step, yield* legsOf(ended)))
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
    yield* Effect.logWarning(`Payout ${id} has an unknown outcome after ${current.attempts} attempts: ${error.message}`)
    const pauseSeconds = Math.min(PAUSE_MAX_SECONDS, 2 ** Math.min(current.attempts, 12))
    const paused = { ...current, nextAttemptAt: DateTime.add(yield* DateTime.now, { seconds: pauseSeconds }) }
    yield* store.update(paused)
    return paused
  }, atomically)

  /** One attempt; returns the payout after it. */
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
    const worked = yield* round(due, { failing: "Payouts that could not be continued", concurrency: 8, work: advance })
    return worked.filter((payout) => !isOpen(payout)).length
  }).pipe(Effect.withSpan("Payouts.work"))

  const reversed = Effect.fn("Payouts.reversed")(function* (id: PayoutId, transfer: Transferred) {
    const found = Option.getOrUndefined(yield* store.lock(id))
    if (found === undefined || found.state === "failed") return
    const reversedCents = Math.min(transfer.reversedCents, found.amountCents)
    // A reversed transfer was made: the report of that may still be on its way.
    const payout = isOpen(found) ? yield* paid(id, transfer) : found
    const moreCents = reversedCents - payout.reversedCents
    if (moreCents <= 0) return
    const part = { start: fromCents(payout.reversedCents), end: fromCents(reversedCents) }
    const legs = returningLegs(yield* reservedOf(payout), "processor", part)
    yield* dieUnlessUnavailable(post(payout, `:reversed:${reversedCents}`, legs))
    const whole = reversedCents >= payout.amountCents
    yield* store.update({ ...payout, reversedCents, state: whole ? "reversed" : payout.state })
  }, atomically)

  return { advance, work, reversed }
})

/** A rejected look-up says nothing about the transfer: it may have been made. */
const unknownYet = ({ operation, reason }: PaymentFailed) => new PaymentFailed({ operation, reason, definite: false })

// The first step of a payout: drafts it and reserves its money in the ledger, in one unit of work.

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

/** The reason why no payout was started. The balance is unchanged. */
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

// A provider gets ready for payouts with an account at the processor, which it completes on the processor's pages. The service
// keeps a copy of the account's state.

/** A provider's account at the processor, with the page to complete it. */
export interface Connected extends OnboardingLink {
  readonly accountId: string
}

const makeOnboarding = Effect.gen(function* () {
  const store = yield* PayeeStore
  const accounts = yield* AccountStore
  const gateway = yield* PaymentGateway

  const look = Effect.fnUntraced(function* (providerId: ProviderId, accountId: string) {
    const status = yield* gateway.payee(accountId)
    yield* store.putStatus(providerId, status, yield* DateTime.now)
    return status
  })

  const accountOf = (payee: Option.Option<Payee>): string | undefined => Option.getOrUndefined(payee)?.status?.accountId

  const connect = Effect.fn("Payouts.connect")(function* (
    providerId: ProviderId,
    urls: { readonly returnUrl: string; readonly refreshUrl: string }
  ) {
    if (gateway.mode !== "live") return yield* new PaymentsNotConfigured({ what: "payouts are simulated" })
    const provider = Option.getOrThrow(yield* accounts.findProvider(providerId))
    const known = accountOf(yield* store.find(providerId))
    const accountId = known ?? (yield* gateway.openPayee({ providerId, name: provider.name, email: provider.email }))
    if (known === undefined) yield* look(providerId, accountId)
    return { accountId, ...(yield* gateway.onboard(accountId, urls)) }
  })

  const accountStatus = Effect.fn("Payouts.accountStatus")(function* (providerId: ProviderId) {
    const payee = yield* store.find(providerId)
    const seen = Option.getOrUndefined(payee)?.status
    if (seen === undefined || gateway.mode !== "live") return Option.fromNullishOr(seen)
    return yield* look(providerId, seen.accountId).pipe(
      Effect.catchTag("PaymentFailed", (error) => Effect.as(Effect.logWarning(error.message), seen)),
      Effect.map(Option.some)
    )
  })

  const refreshAccount = Effect.fn("Payouts.refreshAccount")(function* (accountId: string) {
    const payee = yield* store.findByAccount(accountId)
    if (Option.isSome(payee)) yield* look(payee.value.providerId, accountId)
  })

  const setAutomatic = Effect.fn("Payouts.setAutomatic")(function* (providerId: ProviderId, automatic: boolean) {
    yield* store.putAutomatic(providerId, automatic, yield* DateTime.now)
  })

  return { connect, accountStatus, refreshAccount, payee: store.find, setAutomatic }
})

const PAYOUT_HISTORY_MAX = 100
const AUTOMATIC_PAYOUT_DAYS = 3

/** A dry run has only the amount that would be paid. */
export type PayoutAnswer =
  | { readonly mode: "dry_run"; readonly wouldPayoutCents: number }
  | { readonly mode: "live"; readonly payout: Payout; readonly repeated: boolean }

export class Payouts extends Context.Service<
  Payouts,
  {
    /** `dry_run`: payouts are simulated. */
    readonly mode: "dry_run" | "live"
    /**
     * Pays all available whole cents. One payout of a provider at a time: further requests return it. A key stands for the
     * payout of its first response, even if another request had started that payout.
     */
    request(
      providerId: ProviderId,
      key?: string
    ): Effect.Effect<PayoutAnswer, PayoutRejected | IdempotencyConflict | IdempotencyInFlight | StoreUnavailable>
    /** Continues interrupted payouts; returns how many ended. */
    readonly work: Effect.Effect<number, StoreUnavailable>
    /** The processor reversed a transfer or a part of it. */
    reversed(id: PayoutId, transfer: Transferred): Effect.Effect<void, StoreUnavailable>
    payableCents(providerId: ProviderId): Effect.Effect<number, StoreUnavailable>
    history(providerId: ProviderId): Effect.Effect<ReadonlyArray<Payout>, StoreUnavailable>
    holdings(providerId: ProviderId): Effect.Effect<ProviderHoldings, StoreUnavailable>
    earnings(providerId: ProviderId, period: EarningsPeriod): Effect.Effect<EarningsSummary, StoreUnavailable>
    /** A new link to the processor's pages, where the provider completes its account; opens the account the first time. */
    connect(
      providerId: ProviderId,
      urls: { readonly returnUrl: string; readonly refreshUrl: string }
    ): Effect.Effect<Connected, PaymentsNotConfigured | PaymentFailed | StoreUnavailable>
    /** Current status of the account at the processor, or the last known one if the processor does not respond. */
    accountStatus(providerId: ProviderId): Effect.Effect<Option.Option<PayeeStatus>, StoreUnavailable>
    /** The processor reports a changed account. Unknown accounts are ignored. */
    refreshAccount(accountId: string): Effect.Effect<void, PaymentFailed | StoreUnavailable>
    payee(providerId: ProviderId): Effect.Effect<Option.Option<Payee>, StoreUnavailable>
    setAutomatic(providerId: ProviderId, automatic: boolean): Effect.Effect<void, StoreUnavailable>
    /** Pays every provider with automatic payouts, at most once a month, except payouts that failed. Returns how many were requested. */
    readonly payAutomatically: Effect.Effect<number, StoreUnavailable>
  }
>()("agent-tool-billing/domain/earnings/Payouts") {
  static readonly layer = Layer.effect(
    Payouts,
    Effect.gen(function* () {
      const store = yield* PayoutStore
      const payees = yield* PayeeStore
      const money = yield* ProviderMoney
      const { mode } = yield* PaymentGateway
      const entropy = yield* Entropy
      const { sha256Hex } = yield* Digest
      const { open, payableCents } = yield* makePayoutOpening
      const { advance, reversed, work } = yield* makePayoutAttempts
      const { earnings } = yield* makeEarnings
      const onboarding = yield* makeOnboarding
      const { once } = yield* Idempotency

      const begin = Effect.fnUntraced(function* (id: PayoutId, providerId: ProviderId) {
        const { payout, repeated } = yield* open(id, providerId)
        return { payout: repeated ? payout : yield* advance(id), repeated }
      })

      /** Choosing the payout and reserving a new one are one unit of work; the processor is asked after it. */
      const beginUnder = Effect.fnUntraced(function* (key: string, providerId: ProviderId) {
        const id = payoutNamed(sha256Hex, providerId, `key\n${key}`)
        const opening = Effect.map(open(id, providerId), ({ payout }) => payout.id)
        const { answer, replayed } = yield* once({ scope: `payouts:${providerId}`, key, request: "payout" }, opening)
        const repeated = replayed || answer !== id
        const payout = repeated ? Option.getOrThrow(yield* store.find(PayoutId.make(answer))) : yield* advance(id)
        return { payout, repeated }
      })

      const request = Effect.fn("Payouts.request")(function* (providerId: ProviderId, key?: string) {
        // A dry run changes nothing, so there is nothing to remember.
        if (mode === "dry_run") {
          const cents = yield* payableCents(providerId)
          if (cents < PAYOUT_CENTS_MIN) return yield* new BelowMinimum({ balanceCents: cents })
          return { mode: "dry_run" as const, wouldPayoutCents: cents }
        }
        const begun =
          key === undefined
            ? yield* begin(PayoutId.make(yield* entropy.uuid), providerId)
            : yield* beginUnder(key, providerId)
        return { mode: "live" as const, ...begun }
      })

      /** Begins one only if all earlier ones have failed, which is final: the money is back and paid only once. */
      const beginAutomatic = Effect.fnUntraced(function* (providerId: ProviderId, day: string) {
        const named = (period: string) => payoutNamed(sha256Hex, providerId, `automatic\n${period}`)
        for (const period of automaticPeriods(day)) {
          const known = Option.getOrUndefined(yield* store.find(named(period)))
          if (known?.state !== "failed") return yield* begin(named(period), providerId)
        }
        return { repeated: true }
      })

      const payAutomatically = Effect.gen(function* () {
        if (mode !== "live") return 0
        const day = DateTime.formatIsoDateUtc(yield* DateTime.now)
        const requested = yield* roundOfPages(
          {
            pageMax: WORKED_AT_ONCE_MAX,
            read: (after: ProviderId | undefined) => payees.automatic(after, WORKED_AT_ONCE_MAX)
          },
          {
            failing: "Automatic payouts that could not be made",
            work: (providerId) =>
              beginAutomatic(providerId, day).pipe(
                Effect.map(({ repeated }) => (repeated ? 0 : 1)),
                Effect.catchTag(["BelowMinimum", "NotOnboarded"], () => Effect.succeed(0))
              )
          }
        )
        return requested.reduce<number>((sum, one) => sum + one, 0)
      }).pipe(Effect.withSpan("Payouts.payAutomatically"))

      return Payouts.of({
        mode,
        request,
        work,
        reversed,
        payableCents,
        history: (providerId) => store.history(providerId, PAYOUT_HISTORY_MAX),
        holdings: money.holdings,
        earnings,
        ...onboarding,
        payAutomatically
      })
    })
  )
}

/**
 * Automatic payouts are made on the first of a month, and on the next two days where an outage prevented them, the
 * processor rejected them, or the balance reached the minimum.
 */
export const isAutomaticPayoutDay = (now: DateTime.Utc): boolean =>
  DateTime.getPartUtc(now, "day") <= AUTOMATIC_PAYOUT_DAYS

/** The month, and one further period for each later day: a payout carries the name of its period, so it is made once. */
const automaticPeriods = (day: string): ReadonlyArray<string> => {
  const month = day.slice(0, 7)
  const last = Math.min(Number(day.slice(8)), AUTOMATIC_PAYOUT_DAYS)
  return [month, ...Array.from({ length: last - 1 }, (_, before) => `${month}-0${before + 2}`)]
}

/** The same key of a provider gives the same payout. */
const payoutNamed = (sha256Hex: (text: string) => string, providerId: ProviderId, key: string): PayoutId =>
  PayoutId.make(uuidFrom(sha256Hex(`payout\n${providerId}\n${key}`)))

/** The reason why a payout is not retried: nothing was paid. */
export class PayoutNotRetried extends Schema.TaggedError<PayoutNotRetried>()("PayoutNotRetried", {
  payoutId: Schema.String,
  because: Schema.Literals(["unknown", "not_failed", "not_onboarded", "dry_run"])
}) {
  override get message() {
    const { because, payoutId } = this
    if (because === "dry_run") return "In a dry run nothing is paid out, so no payout can be retried."
    if (because === "not_onboarded") {
      return "The payment processor cannot pay this provider yet: its payout account is not complete."
    }
    return because === "unknown"
      ? `There is no payout ${payoutId}.`
      : `The payout ${payoutId} has not failed. Only a failed payout can be retried.`
  }
}

/** The new payout. `repeated`: it existed already, such as from an earlier retry. */
export interface RetriedPayout {
  readonly payout: Payout
  readonly repeated: boolean
}

/**
 * Failed payouts, retried by the operator. A failed payout has returned its money for good, so a retry is a new payout, to
 * the provider's own account, of what is available now.
 */
export class PayoutRetries extends Context.Service<
  PayoutRetries,
  {
    retry(
      id: PayoutId
    ): Effect.Effect<
      RetriedPayout,
      | PayoutNotRetried
      | AccountFrozen
      | Exclude<PayoutRejected, NotOnboarded>
      | IdempotencyConflict
      | IdempotencyInFlight
      | StoreUnavailable
    >
  }
>()("agent-tool-billing/domain/earnings/PayoutRetries") {
  static readonly layer = Layer.effect(
    PayoutRetries,
    Effect.gen(function* () {
      const store = yield* PayoutStore
      const payouts = yield* Payouts

      const retry = Effect.fn("PayoutRetries.retry")(function* (id: PayoutId) {
        const failed = Option.getOrUndefined(yield* store.find(id))
        if (failed === undefined) return yield* new PayoutNotRetried({ payoutId: id, because: "unknown" })
        if (failed.state !== "failed") return yield* new PayoutNotRetried({ payoutId: id, because: "not_failed" })
        if ((yield* payouts.holdings(failed.providerId)).isFrozen) return yield* new AccountFrozen()
        // No provider can send this key, because the keys of clients have no line breaks. A failed payout is retried once.
        const begun = yield* payouts
          .request(failed.providerId, `operator\nretry ${id}`)
          .pipe(Effect.catchTag("NotOnboarded", () => new PayoutNotRetried({ payoutId: id, because: "not_onboarded" })))
        return begun.mode === "dry_run" ? yield* new PayoutNotRetried({ payoutId: id, because: "dry_run" }) : begun
      })

      return PayoutRetries.of({ retry })
    })
  )
}

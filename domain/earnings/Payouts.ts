/**
 * Earnings and payouts of providers. The ledger reserves the money before the processor is asked; the processor's
 * transfer carries the payout's id, so it is made once; its result posts the money or returns it. After a crash between
 * any two steps, `work` continues the payout.
 */
import { Context, DateTime, Effect, Layer, Option, Schema } from "effect"
import { AccountStore } from "../accounts/Account.ts"
import {
  type OnboardingLink,
  type PayeeStatus,
  type PaymentFailed,
  PaymentGateway,
  PaymentsNotConfigured,
  type Transferred
} from "../ledger/PaymentGateway.ts"
import { AccountFrozen } from "../metering/CallRejections.ts"
import { uuidFrom } from "../payments/Loads.ts"
import { Digest, Entropy } from "../shared/Cryptography.ts"
import { Idempotency, type IdempotencyConflict, type IdempotencyInFlight } from "../shared/Idempotency.ts"
import { PayoutId, type ProviderId } from "../shared/Ids.ts"
import { roundOfPages } from "../shared/Round.ts"
import type { StoreUnavailable } from "../shared/StoreUnavailable.ts"
import { type EarningsPeriod, type EarningsSummary, makeEarnings } from "./Earnings.ts"
import { makePayoutAttempts, WORKED_AT_ONCE_MAX } from "./PayoutAttempts.ts"
import {
  BelowMinimum,
  makePayoutOpening,
  type NotOnboarded,
  PAYOUT_CENTS_MIN,
  type PayoutRejected
} from "./PayoutOpening.ts"
import { type Payee, PayeeStore, type Payout, PayoutStore } from "./PayoutStore.ts"
import { type ProviderHoldings, ProviderMoney } from "./ProviderMoney.ts"

// `Payouts.connect` and the account of a payee: how a provider gets ready for payouts: an account at the processor, the processor's pages to complete it, and a copy
// of its state.

/** A provider's account at the processor, with the page to complete it. */
export interface Connected extends OnboardingLink {
  readonly accountId: string
}

export const makeOnboarding = Effect.gen(function* () {
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

export const PAYOUT_HISTORY_MAX = 100
const AUTOMATIC_PAYOUT_DAYS = 3

/** What a request for a payout led to: in dry run only the amount that would be paid. */
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
    /** What the provider has, by state: maturing, reserved, available, frozen. */
    holdings(providerId: ProviderId): Effect.Effect<ProviderHoldings, StoreUnavailable>
    /** What the provider's tools earned, by tool and by week. */
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

      /** Only where all earlier ones have failed, which is final and has returned the money, so nothing is paid twice. */
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
export const payoutNamed = (sha256Hex: (text: string) => string, providerId: ProviderId, key: string): PayoutId =>
  PayoutId.make(uuidFrom(sha256Hex(`payout\n${providerId}\n${key}`)))

/** Why a payout is not retried: nothing was paid. */
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

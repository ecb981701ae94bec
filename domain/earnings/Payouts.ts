/**
 * Earnings and payouts of providers. The ledger reserves the money before the processor is asked; the processor's
 * transfer carries the payout's id, so it is made once; its result posts the money or returns it. After a crash between
 * any two steps, `work` continues the payout.
 */
import { Context, DateTime, Effect, Layer, Option } from "effect"
import { uuidFrom } from "../payments/Loads.ts"
import {
  type PayeeStatus,
  type PaymentFailed,
  PaymentGateway,
  type PaymentsNotConfigured,
  type Transferred
} from "../ledger/PaymentGateway.ts"
import { Digest } from "../shared/Digest.ts"
import { Entropy } from "../shared/Entropy.ts"
import { Idempotency, type IdempotencyConflict } from "../shared/Idempotency.ts"
import type { IdempotencyInFlight } from "../shared/IdempotencyStore.ts"
import { PayoutId, type ProviderId } from "../shared/Ids.ts"
import { roundOfPages } from "../shared/Round.ts"
import { type EarningsPeriod, type EarningsSummary, makeEarnings } from "./Earnings.ts"
import { type Connected, makeOnboarding } from "./Onboarding.ts"
import { type Payee, PayeeStore } from "./PayeeStore.ts"
import { makePayoutAttempts, WORKED_AT_ONCE_MAX } from "./PayoutAttempts.ts"
import { BelowMinimum, makePayoutOpening, PAYOUT_CENTS_MIN, type PayoutRejected } from "./PayoutOpening.ts"
import { type Payout, PayoutStore } from "./PayoutStore.ts"
import { type ProviderHoldings, ProviderMoney } from "./ProviderMoney.ts"
import type { StoreUnavailable } from "../shared/StoreUnavailable.ts"

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

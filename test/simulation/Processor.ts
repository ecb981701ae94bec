/**
 * The world's payment processor: what it was ordered to do, what people do on its pages, and its news of that, which are
 * signed, sent in any order and as often as need be.
 */
import { DateTime, Effect, Layer } from "effect"
import {
  type CheckoutStanding,
  PaymentFailed,
  PaymentGateway,
  type PaymentEvent,
  type Transferred,
  UntrustedEvent
} from "../../domain/payments/PaymentGateway.ts"
import type { Business, Mood } from "./Step.ts"
import type { ConsumerId, LoadId, PayoutId } from "../../domain/shared/Ids.ts"

export const SIGNATURE = "signed by the processor"

/** A checkout, what was paid by it, and who paid for whom. */
export interface Ordered extends CheckoutStanding {
  readonly consumerId: ConsumerId
}

/** Money of a payment that went back to the payer, and perhaps came again. */
export interface GoneBack {
  readonly id: string
  readonly loadId: LoadId
  readonly paymentId: string
  readonly cause: "refund" | "dispute"
  readonly amountCents: number
  state: "taken" | "returned"
}

export interface News {
  readonly id: string
  readonly body: string
}

type Told = PaymentEvent extends infer Event
  ? Event extends PaymentEvent
    ? Omit<Event, "eventId" | "occurredAt">
    : never
  : never

export class Processor {
  readonly checkouts = new Map<string, Ordered>()
  readonly goneBack = new Map<string, GoneBack>()
  readonly transfers = new Map<PayoutId, Transferred>()
  /** Those that were not acknowledged yet. */
  readonly news = new Map<string, News>()
  /** Accounts that it does not pay for now. */
  readonly restricted = new Set<string>()
  private told = 0
  private readonly moods = new Map<Business, ReadonlyArray<Mood>>()
  private readonly onMood: () => void

  constructor(onMood: () => void) {
    this.onMood = onMood
  }

  expect(about: Business, moods: ReadonlyArray<Mood>): void {
    this.moods.set(about, moods)
  }

  cheerUp(): void {
    this.moods.clear()
  }

  private asked<A>(about: Business, answer: Effect.Effect<A, PaymentFailed>): Effect.Effect<A, PaymentFailed> {
    return Effect.suspend(() => {
      const [mood, ...others] = this.moods.get(about) ?? []
      if (mood === undefined) return answer
      this.moods.set(about, others)
      this.onMood()
      const reason = `the processor is in no good mood about ${about}`
      if (mood === "refused") return refused(about, reason)
      return Effect.andThen(answer, Effect.fail(new PaymentFailed({ operation: about, definite: false, reason })))
    })
  }

  restrict(accountId: string, isRestricted: boolean): void {
    if (isRestricted) this.restricted.add(accountId)
    else this.restricted.delete(accountId)
    this.tell({ _tag: "PayeeChanged", accountId })
  }

  end(ordered: Ordered, state: "paid" | "failed" | "expired"): void {
    if (ordered.state !== "open") return
    const paymentId = state === "paid" ? `pi_${ordered.loadId}` : undefined
    const { consumerId, ...checkout } = { ...ordered, state, paymentId }
    this.checkouts.set(ordered.sessionId, { ...checkout, consumerId })
    this.tell({ _tag: "CheckoutChanged", checkout })
  }

  /** At most what is left of the payment. */
  takeBack(ordered: Ordered, cause: GoneBack["cause"], percent: number): void {
    const before = [...this.goneBack.values()].filter(({ loadId }) => loadId === ordered.loadId)
    const left = before.reduce((sum, one) => sum - one.amountCents, ordered.amountCents)
    const amountCents = Math.floor((left * percent) / 100)
    if (amountCents <= 0 || ordered.paymentId === undefined) return
    const id = `${cause}_${ordered.loadId}_${before.length}`
    const { loadId, paymentId } = ordered
    this.goneBack.set(id, { id, loadId, paymentId, cause, amountCents, state: "taken" })
    if (cause === "refund") {
      this.tell({ _tag: "PaymentRefunded", refundId: id, paymentId, amountCents, state: "settled" })
    } else {
      this.tell({ _tag: "PaymentDisputed", disputeId: id, paymentId, amountCents, state: "opened" })
      this.tell({ _tag: "PaymentDisputed", disputeId: id, paymentId, amountCents, state: "withdrawn" })
    }
  }

  bringBack(gone: GoneBack): void {
    if (gone.state === "returned") return
    gone.state = "returned"
    const { amountCents, cause, id, paymentId } = gone
    if (cause === "refund") {
      this.tell({ _tag: "PaymentRefunded", refundId: id, paymentId, amountCents, state: "failed" })
    } else {
      this.tell({ _tag: "PaymentDisputed", disputeId: id, paymentId, amountCents, state: "reinstated" })
    }
  }

  reverse(payoutId: PayoutId, percent: number): void {
    const made = this.transfers.get(payoutId)!
    const more = Math.floor(((made.amountCents - made.reversedCents) * percent) / 100)
    if (more <= 0) return
    const transfer = { ...made, reversedCents: made.reversedCents + more }
    this.transfers.set(payoutId, transfer)
    this.tell({ _tag: "TransferReversed", payoutId, transfer })
  }

  private tell(event: Told): void {
    const id = `evt_${++this.told}`
    this.news.set(id, { id, body: JSON.stringify({ ...event, eventId: id }) })
  }

  readonly layer = Layer.succeed(PaymentGateway, {
    mode: "live",
    paymentFee: () => Effect.succeed(0),
    refund: ({ partId }) => Effect.succeed({ refundId: `re_${partId}`, state: "settled" as const }),
    refundOf: () => Effect.undefined,
    bookMode: "test",
    book: Effect.succeed({ mode: "test" as const, accountId: "acct_simulated" }),
    checkout: ({ amountCents, consumerId, loadId }) =>
      this.asked(
        "checkouts",
        Effect.flatMap(DateTime.now, (now) => {
          const sessionId = `cs_${loadId}`
          const known = this.checkouts.get(sessionId)
          if (known !== undefined && known.amountCents !== amountCents) return refused("checkout", "another amount")
          const state = "open"
          const fresh = {
            loadId,
            consumerId,
            sessionId,
            state,
            amountCents,
            currency: "usd",
            paymentId: undefined
          } as const
          if (known === undefined) this.checkouts.set(sessionId, fresh)
          return Effect.succeed({
            sessionId,
            url: `https://pay.example/${sessionId}`,
            expiresAt: DateTime.add(now, { days: 1 })
          })
        })
      ),
    checkoutStanding: (sessionId) =>
      this.asked(
        "checkouts",
        Effect.suspend(() => {
          const known = this.checkouts.get(sessionId)
          return known === undefined ? refused("checkout", "no such checkout") : Effect.succeed(known)
        })
      ),
    loadOfPayment: (paymentId) =>
      this.asked(
        "checkouts",
        Effect.sync(() => [...this.checkouts.values()].find((one) => one.paymentId === paymentId)?.loadId)
      ),
    openPayee: ({ providerId }) => Effect.succeed(`acct_${providerId}`),
    onboard: (accountId, { returnUrl }) =>
      Effect.map(DateTime.now, (now) => ({
        url: `https://onboard.example/${accountId}?then=${returnUrl}`,
        expiresAt: DateTime.add(now, { minutes: 5 })
      })),
    payee: (accountId) =>
      this.asked(
        "accounts",
        Effect.sync(() => {
          const payoutsEnabled = !this.restricted.has(accountId)
          return {
            accountId,
            status: payoutsEnabled ? "complete" : "restricted",
            chargesEnabled: false,
            payoutsEnabled,
            detailsSubmitted: true,
            currentlyDue: [],
            eventuallyDue: [],
            errors: []
          } as const
        })
      ),
    transfer: ({ accountId, amountCents, payoutId }) =>
      this.asked(
        "transfers",
        Effect.suspend(() => {
          const known = this.transfers.get(payoutId)
          if (known !== undefined) {
            return known.amountCents === amountCents ? Effect.succeed(known) : refused("transfer", "another amount")
          }
          if (this.restricted.has(accountId)) return refused("transfer", "this account cannot be paid")
          const made = { transferId: `tr_${payoutId}`, amountCents, reversedCents: 0 }
          this.transfers.set(payoutId, made)
          return Effect.succeed(made)
        })
      ),
    transferOf: (payoutId) =>
      this.asked(
        "transfers",
        Effect.sync(() => this.transfers.get(payoutId))
      ),
    readEvent: (body, signature) =>
      Effect.flatMap(DateTime.now, (occurredAt) =>
        signature === SIGNATURE
          ? Effect.succeed({ ...(JSON.parse(body) as PaymentEvent), occurredAt })
          : Effect.fail(new UntrustedEvent({ reason: "it is not signed" }))
      )
  })
}

const refused = (operation: string, reason: string) =>
  Effect.fail(new PaymentFailed({ operation, definite: true, reason }))

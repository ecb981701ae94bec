/**
 * The payment processor of the world: its orders, payers on its pages, and its signed events, sent in any order and
 * repeatedly.
 */
import { Effect } from "effect"
import {
  type CheckoutStatus,
  PaymentFailed,
  type PaymentEvent,
  type Refunded,
  type RefundOrder,
  type Transferred
} from "../../../domain/ledger/PaymentGateway.ts"
import type { Business, Mood } from "../world/Step.ts"
import type { ConsumerId, LoadId, PayoutId, WithdrawalPartId } from "../../../domain/shared/Ids.ts"

export const SIGNATURE = "signed by the processor"

/** A checkout, what was paid by it, and who paid for whom. */
export interface Ordered extends CheckoutStatus {
  readonly consumerId: ConsumerId
  readonly orderedAtMs: number
}

/** Money of a payment that went back to the payer, and perhaps came again. */
export interface GoneBack {
  readonly id: string
  readonly loadId: LoadId
  readonly paymentId: string
  readonly consumerId: ConsumerId
  readonly cause: "refund" | "dispute"
  readonly amountCents: number
  state: "taken" | "returned"
  /** The events that said so. */
  readonly takenBy: string
  returnedBy: string | undefined
}

/** A dispute of the payer's bank, from its opening to its end. */
export interface Chargeback {
  readonly id: string
  readonly ordered: Ordered
  readonly amountCents: number
  readonly openedBy: string
  state: "open" | "withdrawn" | "won" | "lost"
  endedAtMs: number | undefined
  endedAfterWord: number | undefined
}

/** Ordered by the service, for a withdrawal. */
export interface MadeRefund extends Refunded {
  readonly partId: WithdrawalPartId
  readonly ordered: Ordered
  readonly amountCents: number
  readonly madeAtMs: number
  /** The event that said that the payer could not be given the money. */
  readonly returnedBy: string | undefined
}

export interface MadeTransfer extends Transferred {
  readonly accountId: string
  readonly madeAtMs: number
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
  readonly chargebacks = new Map<string, Chargeback>()
  readonly transfers = new Map<PayoutId, MadeTransfer>()
  readonly refunds = new Map<WithdrawalPartId, MadeRefund>()
  /** Orders of the service to refund more of a payment than it knew to be left. */
  readonly overdrawn: Array<string> = []
  /** Events that the service was handed, and when it first acknowledged each. */
  readonly heard = new Set<string>()
  readonly acknowledgedAtMs = new Map<string, number>()
  /** Loads that the service may know to be paid: it heard so, or asked. */
  readonly knownPaid = new Set<string>()
  /** Payouts whose end the service knows. */
  readonly knownTransfers = new Set<PayoutId>()
  /** Those that were not acknowledged yet. */
  readonly news = new Map<string, News>()
  /** Accounts that it does not pay for now. */
  readonly restricted = new Set<string>()
  private told = 0
  private readonly moods = new Map<Business, ReadonlyArray<Mood>>()
  /** How many words of calls there were by when an event was first acknowledged. Clocks are set; this goes on. */
  readonly acknowledgedAfterWord = new Map<string, number>()
  private readonly onMood: () => void
  private readonly words: () => number

  constructor(onMood: () => void, words: () => number) {
    this.onMood = onMood
    this.words = words
  }

  expect(about: Business, moods: ReadonlyArray<Mood>): void {
    this.moods.set(about, moods)
  }

  cheerUp(): void {
    this.moods.clear()
  }

  asked<A>(about: Business, answer: Effect.Effect<A, PaymentFailed>): Effect.Effect<A, PaymentFailed> {
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
    const { consumerId, orderedAtMs, ...checkout } = { ...ordered, state, paymentId }
    this.checkouts.set(ordered.sessionId, { ...checkout, consumerId, orderedAtMs })
    this.tell({ _tag: "CheckoutChanged", checkout })
  }

  /** At most what is left of the payment. */
  takeBack(ordered: Ordered, cause: GoneBack["cause"], percent: number): void {
    if (cause === "refund") return void this.refund(ordered, percent)
    const opened = this.openChargeback(ordered, percent)
    if (opened !== undefined) this.withdraw(opened)
  }

  private refund(ordered: Ordered, percent: number): void {
    const amountCents = Math.floor((this.leftOf(ordered) * percent) / 100)
    const { consumerId, loadId, paymentId } = ordered
    if (amountCents <= 0 || paymentId === undefined) return
    const id = `refund_${loadId}_${this.goneBackOf(loadId).length}`
    const takenBy = this.tell({ _tag: "PaymentRefunded", refundId: id, paymentId, amountCents, state: "settled" })
    const cause = "refund"
    const state = "taken"
    this.goneBack.set(id, {
      id,
      loadId,
      paymentId,
      consumerId,
      cause,
      amountCents,
      state,
      takenBy,
      returnedBy: undefined
    })
  }

  /** One at a time of a payment, as a bank has it. */
  openChargeback(ordered: Ordered, percent: number): Chargeback | undefined {
    const amountCents = Math.floor((this.leftOf(ordered) * percent) / 100)
    const { loadId, paymentId } = ordered
    const isOpen = [...this.chargebacks.values()].some((one) => one.ordered.loadId === loadId && one.state === "open")
    if (amountCents <= 0 || paymentId === undefined || isOpen) return undefined
    const id = `dispute_${loadId}_${this.goneBackOf(loadId).length}`
    const openedBy = this.tell({ _tag: "PaymentDisputed", disputeId: id, paymentId, amountCents, state: "opened" })
    const opened: Chargeback = {
      id,
      ordered,
      amountCents,
      openedBy,
      state: "open",
      endedAtMs: undefined,
      endedAfterWord: undefined
    }
    this.chargebacks.set(id, opened)
    return opened
  }

  withdraw(chargeback: Chargeback): void {
    if (chargeback.state !== "open") return
    chargeback.state = "withdrawn"
    const { amountCents, id, ordered } = chargeback
    const { consumerId, loadId } = ordered
    const paymentId = ordered.paymentId!
    const fees = [{ id: feeIdOf(id), cents: CHARGEBACK_FEE_CENTS }]
    const news = { _tag: "PaymentDisputed", disputeId: id, paymentId, amountCents, state: "withdrawn", fees } as const
    const takenBy = this.tell(news)
    const cause = "dispute"
    const state = "taken"
    this.goneBack.set(id, {
      id,
      loadId,
      paymentId,
      consumerId,
      cause,
      amountCents,
      state,
      takenBy,
      returnedBy: undefined
    })
  }

  /** Won: the bank gives the money again. */
  close(chargeback: Chargeback, result: "won" | "lost", atMs: number): void {
    if (chargeback.state !== "withdrawn") return
    chargeback.state = result
    chargeback.endedAtMs = atMs
    chargeback.endedAfterWord = this.words()
    if (result === "won") return this.bringBack(this.goneBack.get(chargeback.id)!, atMs)
    const { amountCents, id, ordered } = chargeback
    this.tell({ _tag: "PaymentDisputed", disputeId: id, paymentId: ordered.paymentId!, amountCents, state: "lost" })
  }

  bringBack(gone: GoneBack, atMs: number): void {
    if (gone.state === "returned") return
    gone.state = "returned"
    const { amountCents, cause, id, paymentId } = gone
    if (cause === "refund") {
      gone.returnedBy = this.tell({ _tag: "PaymentRefunded", refundId: id, paymentId, amountCents, state: "failed" })
    } else {
      gone.returnedBy = this.tell({
        _tag: "PaymentDisputed",
        disputeId: id,
        paymentId,
        amountCents,
        state: "reinstated"
      })
      const chargeback = this.chargebacks.get(id)!
      chargeback.state = "won"
      chargeback.endedAtMs ??= atMs
      chargeback.endedAfterWord ??= this.words()
    }
  }

  private goneBackOf(loadId: LoadId): ReadonlyArray<GoneBack> {
    return [...this.goneBack.values()].filter((one) => one.loadId === loadId)
  }

  /** In cents, of a payment. What came again has gone back all the same: a bank does not take it a second time. */
  private leftOf({ amountCents, loadId }: Ordered): number {
    const left = this.goneBackOf(loadId).reduce((sum, one) => sum - one.amountCents, amountCents)
    return left - this.refundedOf(loadId)
  }

  /** By orders of the service, in cents. */
  private refundedOf(loadId: LoadId): number {
    const made = [...this.refunds.values()].filter((one) => one.ordered.loadId === loadId && one.state === "settled")
    return made.reduce((sum, one) => sum + one.amountCents, 0)
  }

  /** Not of a payment that is disputed at the bank. */
  order({ amountCents, partId, paymentId }: RefundOrder, madeAtMs: number): Effect.Effect<Refunded, PaymentFailed> {
    const known = this.refunds.get(partId)
    if (known !== undefined) return Effect.succeed(known)
    const ordered = [...this.checkouts.values()].find((one) => one.paymentId === paymentId)
    if (ordered === undefined) return refused("refund", "no such payment")
    const { loadId } = ordered
    const isKnown = ({ cause, takenBy }: GoneBack): boolean => cause === "refund" && this.acknowledgedAtMs.has(takenBy)
    const knownGone = this.goneBackOf(loadId).filter((one) => isKnown(one) && one.state === "taken")
    const gone = knownGone.reduce((sum, one) => sum + one.amountCents, this.refundedOf(loadId))
    if (gone + amountCents > ordered.amountCents) {
      this.overdrawn.push(`${amountCents} cents of ${paymentId} over ${ordered.amountCents}, after ${gone}`)
    }
    const isDisputed = [...this.chargebacks.values()].some(
      (one) => one.ordered.loadId === loadId && one.state !== "won"
    )
    if (isDisputed) return refused("refund", "the payment is disputed")
    if (amountCents > this.leftOf(ordered)) return refused("refund", "this much is not left of the payment")
    const refundId = `re_${partId}`
    const made = { refundId, partId, ordered, amountCents, madeAtMs, state: "settled", returnedBy: undefined } as const
    this.refunds.set(partId, made)
    this.tell({ _tag: "PaymentRefunded", refundId, paymentId, amountCents, state: "settled", partId })
    return Effect.succeed(made)
  }

  /** The payer's bank did not take the money. */
  returnRefund(made: MadeRefund): void {
    const { amountCents, ordered, partId, refundId, state } = made
    if (state === "failed") return
    const news = { _tag: "PaymentRefunded", refundId, amountCents, state: "failed", partId } as const
    const returnedBy = this.tell({ ...news, paymentId: ordered.paymentId! })
    this.refunds.set(partId, { ...made, state: "failed", returnedBy })
  }

  reverse(payoutId: PayoutId, percent: number): void {
    const made = this.transfers.get(payoutId)!
    const more = Math.floor(((made.amountCents - made.reversedCents) * percent) / 100)
    if (more <= 0) return
    this.transfers.set(payoutId, { ...made, reversedCents: made.reversedCents + more })
    const transfer = transferredOf(this.transfers.get(payoutId)!)
    this.tell({ _tag: "TransferReversed", payoutId, transfer })
  }

  private tell(event: Told): string {
    const id = `evt_${++this.told}`
    this.news.set(id, { id, body: JSON.stringify({ ...event, eventId: id }) })
    return id
  }

  acknowledge(newsId: string, atMs: number): void {
    if (this.acknowledgedAtMs.has(newsId)) return
    this.acknowledgedAtMs.set(newsId, atMs)
    this.acknowledgedAfterWord.set(newsId, this.words())
  }

  hear(event: PaymentEvent): PaymentEvent {
    this.heard.add(event.eventId)
    if (event._tag === "CheckoutChanged" && event.checkout.state === "paid")
      this.knownPaid.add(event.checkout.sessionId)
    return event
  }
}

export const CHARGEBACK_FEE_CENTS = 1_500

export const feeIdOf = (chargebackId: string): string => `fee_${chargebackId}`

/** What it keeps of a payment. */
export const paymentFeeCents = (amountCents: number): number => 30 + Math.floor((amountCents * 29) / 1_000)

export const transferredOf = ({ amountCents, reversedCents, transferId }: MadeTransfer): Transferred => ({
  transferId,
  amountCents,
  reversedCents
})

export const refused = (operation: string, reason: string) =>
  Effect.fail(new PaymentFailed({ operation, definite: true, reason }))

/**
 * Translates Stripe's objects and signed events, snapshot (v1) and thin (v2), into the domain's.
 */
import { DateTime, Option, Schema } from "effect"
import type { Stripe } from "stripe"
import type {
  CheckoutStatus,
  PayeeStatus,
  PaymentEvent,
  RefundState,
  Transferred
} from "../../domain/ledger/PaymentGateway.ts"
import { LoadId, PayoutId, WithdrawalPartId } from "../../domain/shared/Ids.ts"

const loadIdIn = Schema.decodeUnknownOption(LoadId)
const partIdIn = Schema.decodeUnknownOption(WithdrawalPartId)
const payoutIdIn = Schema.decodeUnknownOption(PayoutId)

/** A session that is not ours is none. A paid session must have a valid amount. */
export const checkoutOf = (session: Stripe.Checkout.Session): CheckoutStatus | undefined => {
  const sessionId = nameIn(session.id)
  const isPaid = session.payment_status === "paid"
  const loadId = Option.getOrUndefined(loadIdIn(session.client_reference_id))
  if (loadId === undefined) return undefined
  return {
    loadId,
    sessionId,
    state: isPaid ? "paid" : session.status === "expired" ? "expired" : "open",
    amountCents: isPaid ? wholeCents(session.amount_total) : (session.amount_total ?? 0),
    currency: isPaid ? nameIn(session.currency) : (session.currency ?? ""),
    paymentId: idOf(session.payment_intent)
  }
}

export const loadIdOf = ({ id, metadata }: Stripe.PaymentIntent): LoadId | undefined => {
  nameIn(id)
  return Option.getOrUndefined(loadIdIn(metadata["load_id"]))
}

export const payeeOf = (account: Stripe.V2.Core.Account): PayeeStatus => {
  const capability = account.configuration?.recipient?.capabilities?.stripe_balance?.stripe_transfers?.status
  const entries = account.requirements?.entries ?? []
  const due = (deadlines: ReadonlyArray<string>) =>
    entries
      .filter((entry) => deadlines.includes(entry.minimum_deadline.status))
      .map((entry) => entry.description)
      .slice(0, REQUIREMENTS_SHOWN_MAX)
  const currentlyDue = due(["currently_due", "past_due"])
  const payoutsEnabled = capability === "active" && account.closed !== true
  return {
    accountId: nameIn(account.id),
    status: payoutsEnabled
      ? "complete"
      : capability === "restricted" || capability === "rejected" || capability === "unsupported"
        ? currentlyDue.length > 0
          ? "pending"
          : "restricted"
        : "pending",
    // A recipient is paid; it does not charge.
    chargesEnabled: false,
    payoutsEnabled,
    detailsSubmitted: currentlyDue.length === 0,
    currentlyDue,
    eventuallyDue: due(["eventually_due"]),
    errors: entries.flatMap((entry) => entry.errors.map((error) => error.description)).slice(0, REQUIREMENTS_SHOWN_MAX)
  }
}

export const transferredOf = (transfer: Stripe.Transfer): Transferred => {
  const amountCents = positiveCents(transfer.amount)
  const reversedCents = wholeCents(transfer.amount_reversed)
  if (reversedCents < 0 || reversedCents > amountCents) throw new TypeError("Expected a part of the amount")
  return { transferId: nameIn(transfer.id), amountCents, reversedCents }
}

/** A snapshot event contains the object at that time. */
export const eventOf = (event: Stripe.Event): PaymentEvent => {
  const base = { eventId: nameIn(event.id), occurredAt: DateTime.makeUnsafe(event.created * 1_000) }
  const irrelevant = { ...base, _tag: "Irrelevant", type: event.type } as const
  switch (event.type) {
    case "checkout.session.completed":
    case "checkout.session.async_payment_succeeded":
    case "checkout.session.async_payment_failed":
    case "checkout.session.expired": {
      const checkout = checkoutOf(event.data.object)
      if (checkout === undefined) return irrelevant
      const failed = event.type === "checkout.session.async_payment_failed" && checkout.state === "open"
      return { ...base, _tag: "CheckoutChanged", checkout: failed ? { ...checkout, state: "failed" } : checkout }
    }
    case "refund.created":
    case "refund.updated":
    case "refund.failed": {
      const { amount, id, metadata, payment_intent, status } = event.data.object
      const paymentId = idOf(payment_intent)
      if (paymentId === undefined) return irrelevant
      const state = refundStateOf(status)
      const partId = Option.getOrUndefined(partIdIn(metadata?.["withdrawal_part"]))
      return {
        ...base,
        _tag: "PaymentRefunded",
        refundId: nameIn(id),
        paymentId,
        amountCents: positiveCents(amount),
        state,
        partId
      }
    }
    case "charge.dispute.created":
    case "charge.dispute.funds_withdrawn":
    case "charge.dispute.funds_reinstated":
    case "charge.dispute.closed": {
      const { amount, balance_transactions, id, payment_intent, status } = event.data.object
      const paymentId = idOf(payment_intent)
      if (paymentId === undefined) return irrelevant
      const state = disputeStateOf(event.type, status)
      const fees = (balance_transactions ?? []).map((one) => ({ id: nameIn(one.id), cents: wholeCents(one.fee) }))
      return {
        ...base,
        _tag: "PaymentDisputed",
        disputeId: nameIn(id),
        paymentId,
        amountCents: positiveCents(amount),
        state,
        fees
      }
    }
    case "transfer.reversed": {
      const payoutId = Option.getOrUndefined(payoutIdIn(event.data.object.transfer_group))
      if (payoutId === undefined) return irrelevant
      return { ...base, _tag: "TransferReversed", payoutId, transfer: transferredOf(event.data.object) }
    }
    default:
      return irrelevant
  }
}

/** A thin event names the changed object, which is then requested. */
export const notificationOf = (event: Stripe.V2.Core.EventNotification): PaymentEvent => {
  const base = { eventId: nameIn(event.id), occurredAt: DateTime.makeUnsafe(event.created) }
  const related = "related_object" in event ? event.related_object : undefined
  const type: string = event.type
  return type.startsWith("v2.core.account") &&
    related?.type === "v2.core.account" &&
    "id" in related &&
    typeof related.id === "string"
    ? { ...base, _tag: "PayeeChanged", accountId: related.id }
    : { ...base, _tag: "Irrelevant", type }
}

export const refundStateOf = (status: string | null | undefined): RefundState =>
  status === "succeeded" ? "settled" : status === "failed" || status === "canceled" ? "failed" : "pending"

type DisputeEvent = Extract<Stripe.Event.Type, `charge.dispute.${string}`>

const disputeStateOf = (type: DisputeEvent, status: string) => {
  if (type === "charge.dispute.created") return "opened"
  if (type === "charge.dispute.funds_withdrawn") return "withdrawn"
  if (type === "charge.dispute.funds_reinstated") return "reinstated"
  // Besides lost there are won, warning_closed (a closed inquiry) and prevented.
  return status === "lost" ? "lost" : "won"
}

/** An event without a valid amount is invalid. */
const wholeCents = (value: unknown): number => {
  if (typeof value === "number" && Number.isSafeInteger(value)) return value
  throw new TypeError("Expected whole cents")
}

/** A nonempty id, address or currency. */
export const nameIn = (value: unknown): string => {
  if (typeof value === "string" && value !== "") return value
  throw new TypeError("Expected text")
}

const positiveCents = (value: unknown): number => {
  const cents = wholeCents(value)
  if (cents > 0) return cents
  throw new TypeError("Expected an amount above zero")
}

const REQUIREMENTS_SHOWN_MAX = 50

const idOf = (reference: string | { readonly id: string } | null | undefined): string | undefined =>
  typeof reference === "string" ? reference : (reference?.id ?? undefined)

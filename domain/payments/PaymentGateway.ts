/**
 * The payment processor, as the market sees it. Every order carries an id of ours, and an order that is sent again under
 * the same id happens once. Nothing here is called inside a unit of work.
 */
import { Context, type DateTime, type Effect, Schema } from "effect"
import type { ConsumerId, LoadId, PayoutId, ProviderId } from "../shared/Ids.ts"

/** `definite`: the processor refused and nothing happened. Otherwise nobody knows, and the order may be sent again. */
export class PaymentFailed extends Schema.TaggedError<PaymentFailed>()("PaymentFailed", {
  operation: Schema.String,
  definite: Schema.Boolean,
  reason: Schema.String
}) {
  override get message(): string {
    return this.definite
      ? `The payment processor refused: ${this.reason}`
      : `The payment processor did not answer clearly: ${this.reason}. Nothing is lost; it is tried again.`
  }
}

/** A webhook that the processor did not sign, or that is no event at all. */
export class UntrustedEvent extends Schema.TaggedError<UntrustedEvent>()("UntrustedEvent", { reason: Schema.String }) {
  override get message(): string {
    return `This is not an event of the payment processor: ${this.reason}.`
  }
}

export class PaymentsNotConfigured extends Schema.TaggedError<PaymentsNotConfigured>()("PaymentsNotConfigured", {
  what: Schema.String
}) {
  override get message(): string {
    return `No payment processor is configured here, so ${this.what}. Real money needs PAYMENTS=stripe, with its keys.`
  }
}

export interface CheckoutOrder {
  readonly loadId: LoadId
  readonly consumerId: ConsumerId
  readonly amountCents: number
  readonly successUrl: string
  readonly cancelUrl: string
}

/** A hosted page on which the consumer pays. */
export interface Checkout {
  readonly sessionId: string
  readonly url: string
  readonly expiresAt: DateTime.Utc
}

/** What the processor says of a checkout. `open` covers "completed, but the bank has not paid yet". */
export interface CheckoutStanding {
  readonly loadId: LoadId
  readonly sessionId: string
  readonly state: "open" | "paid" | "expired" | "failed"
  readonly amountCents: number
  readonly currency: string
  /** Names the payment in refunds and card disputes; known once there is one. */
  readonly paymentId: string | undefined
}

export interface PayeeStanding {
  readonly accountId: string
  readonly status: "pending" | "complete" | "restricted"
  readonly chargesEnabled: boolean
  readonly payoutsEnabled: boolean
  readonly detailsSubmitted: boolean
  readonly currentlyDue: ReadonlyArray<string>
  readonly eventuallyDue: ReadonlyArray<string>
  readonly errors: ReadonlyArray<string>
}

export interface OnboardingLink {
  readonly url: string
  readonly expiresAt: DateTime.Utc
}

export interface TransferOrder {
  readonly payoutId: PayoutId
  readonly providerId: ProviderId
  readonly accountId: string
  readonly amountCents: number
}

export interface Transferred {
  readonly transferId: string
  readonly amountCents: number
  readonly reversedCents: number
}

/** What the processor tells by webhook, in the market's words. Money is only moved by what is said here. */
export type PaymentEvent = { readonly eventId: string; readonly occurredAt: DateTime.Utc } & (
  | { readonly _tag: "CheckoutChanged"; readonly checkout: CheckoutStanding }
  /** `settled`: the money went back to the payer; `failed`: it did not after all, or never will. */
  | {
      readonly _tag: "PaymentRefunded"
      readonly refundId: string
      readonly paymentId: string
      readonly amountCents: number
      readonly state: "pending" | "settled" | "failed"
    }
  /** The payer's bank took the money back, or gave it again. */
  | {
      readonly _tag: "PaymentDisputed"
      readonly disputeId: string
      readonly paymentId: string
      readonly amountCents: number
      readonly state: "open" | "withdrawn" | "reinstated"
    }
  | { readonly _tag: "PayeeChanged"; readonly accountId: string }
  | { readonly _tag: "TransferReversed"; readonly payoutId: PayoutId; readonly transfer: Transferred }
  | { readonly _tag: "Irrelevant"; readonly type: string }
)

export class PaymentGateway extends Context.Service<
  PaymentGateway,
  {
    readonly mode: "dry_run" | "live"
    readonly checkout: (order: CheckoutOrder) => Effect.Effect<Checkout, PaymentFailed>
    readonly checkoutStanding: (sessionId: string) => Effect.Effect<CheckoutStanding, PaymentFailed>
    /** The load that a payment belongs to; undefined for a payment that is not ours. */
    readonly loadOfPayment: (paymentId: string) => Effect.Effect<LoadId | undefined, PaymentFailed>
    /** Twice for one provider: the same account. */
    readonly openPayee: (provider: {
      readonly providerId: ProviderId
      readonly name: string
      readonly email: string
    }) => Effect.Effect<string, PaymentFailed>
    readonly onboard: (
      accountId: string,
      urls: { readonly returnUrl: string; readonly refreshUrl: string }
    ) => Effect.Effect<OnboardingLink, PaymentFailed>
    readonly payee: (accountId: string) => Effect.Effect<PayeeStanding, PaymentFailed>
    /** Once per payout, however often it is asked for. */
    readonly transfer: (order: TransferOrder) => Effect.Effect<Transferred, PaymentFailed>
    /** The transfer that was made for a payout, however long ago; undefined if there is none. */
    readonly transferOf: (payoutId: PayoutId) => Effect.Effect<Transferred | undefined, PaymentFailed>
    /** Of a webhook's raw body; `signature` is the header's text. */
    readonly readEvent: (
      body: string,
      signature: string
    ) => Effect.Effect<PaymentEvent, UntrustedEvent | PaymentsNotConfigured | PaymentFailed>
  }
>()("agent-tool-billing/domain/payments/PaymentGateway") {}

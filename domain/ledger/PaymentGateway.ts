/**
 * Port to the payment processor. Every order carries an id of ours, and an order that is sent again under the same id
 * happens once. Nothing here is called in a unit of work.
 */
import { Context, type DateTime, type Effect, Schema } from "effect"
import type { Book } from "./Book.ts"
import type { ConsumerId, LoadId, PayoutId, ProviderId, WithdrawalPartId } from "../shared/Ids.ts"

/**
 * `definite`: the processor rejected the order and nothing happened. Otherwise the outcome is unknown, and the order
 * may be sent again.
 */
export class PaymentFailed extends Schema.TaggedError<PaymentFailed>()("PaymentFailed", {
  operation: Schema.String,
  definite: Schema.Boolean,
  reason: Schema.String
}) {
  override get message(): string {
    return this.definite
      ? `The payment processor rejected the request: ${this.reason}`
      : `The outcome at the payment processor is unknown: ${this.reason}. The service retries automatically.`
  }
}

/** A webhook without a valid signature, or that is not an event. */
export class UntrustedEvent extends Schema.TaggedError<UntrustedEvent>()("UntrustedEvent", { reason: Schema.String }) {
  override get message(): string {
    return `This is not a valid event of the payment processor: ${this.reason}.`
  }
}

/** The service runs without a processor, so no real money can move. */
export class PaymentsNotConfigured extends Schema.TaggedError<PaymentsNotConfigured>()("PaymentsNotConfigured", {
  what: Schema.String
}) {
  override get message(): string {
    return `No payment processor is configured: ${this.what}.`
  }
}

/** A page of the processor to create, on which the payer pays one load. */
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

/** The state of a checkout at the processor. `open` includes "completed, but not paid by the bank yet". */
export interface CheckoutStatus {
  readonly loadId: LoadId
  readonly sessionId: string
  readonly state: "open" | "paid" | "expired" | "failed"
  readonly amountCents: number
  readonly currency: string
  /** Identifies the payment in refunds and chargebacks; undefined until there is one. */
  readonly paymentId: string | undefined
}

/** Says whether the processor can pay a provider, and what it still requires for that. */
export interface PayeeStatus {
  readonly accountId: string
  readonly status: "pending" | "complete" | "restricted"
  readonly chargesEnabled: boolean
  readonly payoutsEnabled: boolean
  readonly detailsSubmitted: boolean
  readonly currentlyDue: ReadonlyArray<string>
  readonly eventuallyDue: ReadonlyArray<string>
  readonly errors: ReadonlyArray<string>
}

/** A page of the processor on which a provider completes its account. It works for a short time. */
export interface OnboardingLink {
  readonly url: string
  readonly expiresAt: DateTime.Utc
}

/** Money to send to a provider's account at the processor. The same payout is sent once. */
export interface TransferOrder {
  readonly payoutId: PayoutId
  readonly providerId: ProviderId
  readonly accountId: string
  readonly amountCents: number
}

/** A transfer that the processor made, with the part of it that was reversed since. */
export interface Transferred {
  readonly transferId: string
  readonly amountCents: number
  readonly reversedCents: number
}

/** `pending`: the processor works on it; `settled`: the money returns to the payer; `failed`: it does not. */
export type RefundState = "pending" | "settled" | "failed"

/** A part of a payment to refund. The same part is refunded once. */
export interface RefundOrder {
  readonly partId: WithdrawalPartId
  readonly paymentId: string
  readonly amountCents: number
}

/** A refund that the processor accepted. It can still fail later. */
export interface Refunded {
  readonly refundId: string
  readonly state: RefundState
}

/** Webhook events in the domain's terms. Only these move money. */
export type PaymentEvent = { readonly eventId: string; readonly occurredAt: DateTime.Utc } & (
  | { readonly _tag: "CheckoutChanged"; readonly checkout: CheckoutStatus }
  | {
      readonly _tag: "PaymentRefunded"
      readonly refundId: string
      readonly paymentId: string
      readonly amountCents: number
      readonly state: RefundState
      /** The part of a withdrawal whose refund was ordered here. */
      readonly partId?: WithdrawalPartId | undefined
    }
  /**
   * A chargeback. `withdrawn`, `reinstated`: the money left the processor's balance, or came back. `won` includes one
   * that the bank withdrew.
   */
  | {
      readonly _tag: "PaymentDisputed"
      readonly disputeId: string
      readonly paymentId: string
      readonly amountCents: number
      readonly state: "opened" | "withdrawn" | "reinstated" | "won" | "lost"
      /** The processor's fees for it so far, each once. Below zero: returned. */
      readonly fees?: ReadonlyArray<{ readonly id: string; readonly cents: number }> | undefined
    }
  | { readonly _tag: "PayeeChanged"; readonly accountId: string }
  | { readonly _tag: "TransferReversed"; readonly payoutId: PayoutId; readonly transfer: Transferred }
  | { readonly _tag: "Irrelevant"; readonly type: string }
)

export class PaymentGateway extends Context.Service<
  PaymentGateway,
  {
    readonly mode: "dry_run" | "live"
    /** Known without asking the processor; undefined if the key does not tell. */
    readonly bookMode: Book["mode"] | undefined
    /** The mode and account of the money. The processor is asked once; then the response is cached. */
    readonly book: Effect.Effect<Book, PaymentFailed>
    readonly checkout: (order: CheckoutOrder) => Effect.Effect<Checkout, PaymentFailed>
    readonly checkoutStatus: (sessionId: string) => Effect.Effect<CheckoutStatus, PaymentFailed>
    /** Checkouts that were paid at that time or later: the newest, as many as a few requests return. */
    readonly paidCheckouts: (since: DateTime.Utc) => Effect.Effect<ReadonlyArray<CheckoutStatus>, PaymentFailed>
    /** The load of a payment; undefined for a payment that is not ours. */
    readonly loadOfPayment: (paymentId: string) => Effect.Effect<LoadId | undefined, PaymentFailed>
    /** The processor's fee of a payment, in cents; undefined if it is not known yet. */
    readonly paymentFee: (paymentId: string) => Effect.Effect<number | undefined, PaymentFailed>
    /** Refunds once per part of a withdrawal, however often it is requested. */
    readonly refund: (order: RefundOrder) => Effect.Effect<Refunded, PaymentFailed>
    /** The refund of a part, however long ago; undefined if there is none. */
    readonly refundOf: (
      partId: WithdrawalPartId,
      paymentId: string
    ) => Effect.Effect<Refunded | undefined, PaymentFailed>
    /** The same account if called twice for one provider. */
    readonly openPayee: (provider: {
      readonly providerId: ProviderId
      readonly name: string
      readonly email: string
    }) => Effect.Effect<string, PaymentFailed>
    readonly onboard: (
      accountId: string,
      urls: { readonly returnUrl: string; readonly refreshUrl: string }
    ) => Effect.Effect<OnboardingLink, PaymentFailed>
    readonly payee: (accountId: string) => Effect.Effect<PayeeStatus, PaymentFailed>
    /** Transfers once per payout, however often it is requested. */
    readonly transfer: (order: TransferOrder) => Effect.Effect<Transferred, PaymentFailed>
    /** The transfer of a payout, however long ago; undefined if there is none. */
    readonly transferOf: (payoutId: PayoutId) => Effect.Effect<Transferred | undefined, PaymentFailed>
    /** Reads the raw body of a webhook; `signature` is the header's text. */
    readonly readEvent: (
      body: string,
      signature: string
    ) => Effect.Effect<PaymentEvent, UntrustedEvent | PaymentsNotConfigured | PaymentFailed>
  }
>()("agent-tool-billing/domain/ledger/PaymentGateway") {}

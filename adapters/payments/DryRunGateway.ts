/**
 * The payment processor of a dry run: every order succeeds and no money moves. Orders are remembered while the process
 * lives, so that a repeated order has the same result.
 */
import { DateTime, Effect, Layer } from "effect"
import {
  type CheckoutStatus,
  PaymentFailed,
  PaymentGateway,
  PaymentsNotConfigured,
  type Refunded,
  type Transferred
} from "../../domain/ledger/PaymentGateway.ts"
import { DRY_RUN } from "../../domain/ledger/Book.ts"
import { CURRENCY } from "../../domain/payments/Loads.ts"
import type { LoadId, PayoutId, WithdrawalPartId } from "../../domain/shared/Ids.ts"

const ORDERS_KEPT_MAX = 10_000

export const layer = Layer.sync(PaymentGateway, () => {
  const checkouts = new Map<string, CheckoutStatus>()
  const payments = new Map<string, LoadId>()
  const transfers = new Map<PayoutId, Transferred>()
  const refunds = new Map<WithdrawalPartId, Refunded & { readonly amountCents: number }>()

  const keep = <K, V>(map: Map<K, V>, key: K, value: V): V => {
    if (map.size >= ORDERS_KEPT_MAX) map.delete(map.keys().next().value!)
    map.set(key, value)
    return value
  }

  const rejected = (operation: string, reason: string) =>
    Effect.fail(new PaymentFailed({ operation, definite: true, reason }))

  return PaymentGateway.of({
    mode: "dry_run",
    bookMode: DRY_RUN.mode,
    book: Effect.succeed(DRY_RUN),
    checkout: ({ amountCents, loadId, successUrl }) =>
      Effect.gen(function* () {
        const sessionId = `dry_run_${loadId}`
        const known = checkouts.get(sessionId)
        if (known !== undefined && known.amountCents !== amountCents) {
          return yield* rejected("checkout", "This load was ordered with another amount")
        }
        const paymentId = `dry_run_payment_${loadId}`
        keep(checkouts, sessionId, { loadId, sessionId, state: "paid", amountCents, currency: CURRENCY, paymentId })
        keep(payments, paymentId, loadId)
        return { sessionId, url: successUrl, expiresAt: DateTime.add(yield* DateTime.now, { days: 1 }) }
      }),
    checkoutStatus: (sessionId) =>
      Effect.suspend(() => {
        const known = checkouts.get(sessionId)
        return known === undefined ? rejected("checkout", "This checkout does not exist") : Effect.succeed(known)
      }),
    // A load of a dry run is credited at once.
    paidCheckouts: () => Effect.succeed([]),
    loadOfPayment: (paymentId) => Effect.sync(() => payments.get(paymentId)),
    paymentFee: () => Effect.succeed(0),
    refund: ({ amountCents, partId }) =>
      Effect.suspend(() => {
        const known = refunds.get(partId)
        if (known !== undefined && known.amountCents !== amountCents) {
          return rejected("refund", "This refund was ordered with another amount")
        }
        const made = known ?? keep(refunds, partId, { refundId: `dry_run_${partId}`, state: "settled", amountCents })
        return Effect.succeed({ refundId: made.refundId, state: made.state })
      }),
    refundOf: (partId) =>
      Effect.sync(() => {
        const known = refunds.get(partId)
        return known === undefined ? undefined : { refundId: known.refundId, state: known.state }
      }),
    openPayee: ({ providerId }) => Effect.succeed(`dry_run_${providerId}`),
    onboard: (_accountId, { returnUrl }) =>
      Effect.map(DateTime.now, (now) => ({ url: returnUrl, expiresAt: DateTime.add(now, { minutes: 5 }) })),
    payee: (accountId) =>
      Effect.succeed({
        accountId,
        status: "complete",
        chargesEnabled: false,
        payoutsEnabled: true,
        detailsSubmitted: true,
        currentlyDue: [],
        eventuallyDue: [],
        errors: []
      }),
    transfer: ({ amountCents, payoutId }) =>
      Effect.suspend(() => {
        const known = transfers.get(payoutId)
        if (known !== undefined && known.amountCents !== amountCents) {
          return rejected("transfer", "This payout was ordered with another amount")
        }
        const transferId = `dry_run_${payoutId}`
        return Effect.succeed(known ?? keep(transfers, payoutId, { transferId, amountCents, reversedCents: 0 }))
      }),
    transferOf: (payoutId) => Effect.sync(() => transfers.get(payoutId)),
    readEvent: () => Effect.fail(new PaymentsNotConfigured({ what: "no events are expected" }))
  })
})

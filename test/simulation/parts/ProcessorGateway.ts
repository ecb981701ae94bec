/**
 * The processor's responses to requests of the service.
 */
import { DateTime, Effect, Layer } from "effect"
import { PaymentGateway, type PaymentEvent, UntrustedEvent } from "../../../domain/ledger/PaymentGateway.ts"
import { paymentFeeCents, type Processor, refused, SIGNATURE, transferredOf } from "./Processor.ts"

export const gatewayOf = (processor: Processor) =>
  Layer.succeed(PaymentGateway, {
    mode: "live",
    bookMode: "test",
    book: Effect.succeed({ mode: "test" as const, accountId: "acct_simulated" }),
    paymentFee: (paymentId) =>
      processor.asked(
        "checkouts",
        Effect.sync(() => {
          const ordered = [...processor.checkouts.values()].find((one) => one.paymentId === paymentId)
          return ordered === undefined ? undefined : paymentFeeCents(ordered.amountCents)
        })
      ),
    refund: (order) =>
      processor.asked(
        "refunds",
        Effect.flatMap(DateTime.now, (now) => processor.order(order, now.epochMilliseconds))
      ),
    refundOf: (partId) =>
      processor.asked(
        "refunds",
        Effect.sync(() => processor.refunds.get(partId))
      ),
    checkout: ({ amountCents, consumerId, loadId }) =>
      processor.asked(
        "checkouts",
        Effect.flatMap(DateTime.now, (now) => {
          const sessionId = `cs_${loadId}`
          const known = processor.checkouts.get(sessionId)
          if (known !== undefined && known.amountCents !== amountCents) return refused("checkout", "another amount")
          const state = "open"
          const fresh = {
            loadId,
            consumerId,
            orderedAtMs: now.epochMilliseconds,
            sessionId,
            state,
            amountCents,
            currency: "usd",
            paymentId: undefined
          } as const
          if (known === undefined) processor.checkouts.set(sessionId, fresh)
          return Effect.succeed({
            sessionId,
            url: `https://pay.example/${sessionId}`,
            expiresAt: DateTime.add(now, { days: 1 })
          })
        })
      ),
    checkoutStatus: (sessionId) =>
      processor.asked(
        "checkouts",
        Effect.suspend(() => {
          const known = processor.checkouts.get(sessionId)
          if (known?.state === "paid") processor.knownPaid.add(sessionId)
          return known === undefined ? refused("checkout", "no such checkout") : Effect.succeed(known)
        })
      ),
    paidCheckouts: () =>
      processor.asked(
        "checkouts",
        Effect.sync(() => {
          const paid = [...processor.checkouts.values()].filter(({ state }) => state === "paid")
          for (const { sessionId } of paid) processor.knownPaid.add(sessionId)
          return paid
        })
      ),
    loadOfPayment: (paymentId) =>
      processor.asked(
        "checkouts",
        Effect.sync(() => [...processor.checkouts.values()].find((one) => one.paymentId === paymentId)?.loadId)
      ),
    openPayee: ({ providerId }) => Effect.succeed(`acct_${providerId}`),
    onboard: (accountId, { returnUrl }) =>
      Effect.map(DateTime.now, (now) => ({
        url: `https://onboard.example/${accountId}?then=${returnUrl}`,
        expiresAt: DateTime.add(now, { minutes: 5 })
      })),
    payee: (accountId) =>
      processor.asked(
        "accounts",
        Effect.sync(() => {
          const payoutsEnabled = !processor.restricted.has(accountId)
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
      processor.asked(
        "transfers",
        Effect.flatMap(DateTime.now, ({ epochMilliseconds: madeAtMs }) => {
          const known = processor.transfers.get(payoutId)
          if (known !== undefined) {
            const isSame = known.amountCents === amountCents
            return isSame ? Effect.succeed(transferredOf(known)) : refused("transfer", "another amount")
          }
          if (processor.restricted.has(accountId)) return refused("transfer", "this account cannot be paid")
          const made = { transferId: `tr_${payoutId}`, amountCents, reversedCents: 0, accountId, madeAtMs }
          processor.transfers.set(payoutId, made)
          return Effect.succeed(transferredOf(made))
        })
      ),
    transferOf: (payoutId) =>
      processor.asked(
        "transfers",
        Effect.sync(() => {
          const made = processor.transfers.get(payoutId)
          return made === undefined ? undefined : transferredOf(made)
        })
      ),
    readEvent: (body, signature) =>
      Effect.flatMap(DateTime.now, (occurredAt) =>
        signature === SIGNATURE
          ? Effect.succeed(processor.hear({ ...(JSON.parse(body) as PaymentEvent), occurredAt }))
          : Effect.fail(new UntrustedEvent({ reason: "it is not signed" }))
      )
  })

/**
 * What a PaymentGateway must do: a repeated order happens once.
 */
import { Effect } from "effect"
import assert from "node:assert/strict"
import { randomUUID } from "node:crypto"
import { PaymentGateway } from "../../../domain/ledger/PaymentGateway.ts"
import type { Digest, Entropy } from "../../../domain/shared/Cryptography.ts"
import { ConsumerId, LoadId, PayoutId, ProviderId, WithdrawalPartId } from "../../../domain/shared/Ids.ts"
import { type Contract, rule } from "../shared/Contract.ts"

const aCheckout = (amountCents = 500) => ({
  loadId: LoadId.make(randomUUID()),
  consumerId: ConsumerId.make(randomUUID()),
  amountCents,
  successUrl: "https://market.example/ok",
  cancelUrl: "https://market.example/no"
})

/** What a person does at the processor. */
export interface Payers<R> {
  /** Completes a payee's account, if that needs a person. */
  ready(accountId: string): Effect.Effect<void, never, R>
  /** Pays a checkout over 500 cents; returns the payment's ID. */
  pay(sessionId: string): Effect.Effect<string, never, R>
}

export const paymentGatewayContract = <R>({
  pay,
  ready
}: Payers<R>): Contract<PaymentGateway | Exclude<R, Digest | Entropy>> => {
  const aPayee = Effect.gen(function* () {
    const { openPayee } = yield* PaymentGateway
    const provider = { providerId: ProviderId.make(randomUUID()), name: "Ada", email: "ada@example.org" }
    const accountId = yield* openPayee(provider)
    yield* ready(accountId)
    return { ...provider, accountId }
  })

  const aPayment = Effect.gen(function* () {
    const { checkout } = yield* PaymentGateway
    return yield* pay((yield* checkout(aCheckout())).sessionId)
  })

  const aTransfer = Effect.gen(function* () {
    const { accountId, providerId } = yield* aPayee
    return { payoutId: PayoutId.make(randomUUID()), providerId, accountId, amountCents: 1_000 }
  })

  return [
    rule(
      "returns the same checkout for a repeated order of a load",
      Effect.gen(function* () {
        const { checkout, checkoutStatus } = yield* PaymentGateway
        const order = aCheckout()
        const [one, two] = [yield* checkout(order), yield* checkout(order)]
        assert.equal(one.sessionId, two.sessionId)
        assert.notEqual(one.url, "")
        const standing = yield* checkoutStatus(one.sessionId)
        assert.deepEqual([standing.loadId, standing.amountCents, standing.currency], [order.loadId, 500, "usd"])
      })
    ),

    rule(
      "rejects a repeated load with another amount",
      Effect.gen(function* () {
        const { checkout } = yield* PaymentGateway
        const order = aCheckout()
        yield* checkout(order)
        assert.equal((yield* Effect.flip(checkout({ ...order, amountCents: 600 })))._tag, "PaymentFailed")
      })
    ),

    rule(
      "rejects a checkout that was not ordered",
      Effect.gen(function* () {
        const { checkoutStatus } = yield* PaymentGateway
        assert.equal((yield* Effect.flip(checkoutStatus("cs_unknown"))).definite, true)
      })
    ),

    rule(
      "opens one account per provider, with a link to complete it",
      Effect.gen(function* () {
        const { onboard, openPayee, payee } = yield* PaymentGateway
        const { accountId, ...provider } = yield* aPayee
        assert.equal(yield* openPayee(provider), accountId)
        const standing = yield* payee(accountId)
        assert.deepEqual([standing.accountId, standing.payoutsEnabled], [accountId, true])
        const urls = { returnUrl: "https://market.example/done", refreshUrl: "https://market.example/again" }
        assert.notEqual((yield* onboard(accountId, urls)).url, "")
      })
    ),

    rule(
      "makes one refund per part of a withdrawal for repeated and concurrent orders",
      Effect.gen(function* () {
        const { paymentFee, refund, refundOf } = yield* PaymentGateway
        const paymentId = yield* aPayment
        const order = { partId: WithdrawalPartId.make(randomUUID()), paymentId, amountCents: 200 }
        assert.equal(yield* refundOf(order.partId, paymentId), undefined)
        const made = yield* Effect.all(
          Array.from({ length: 8 }, () => refund(order)),
          { concurrency: "unbounded" }
        )
        assert.equal(new Set(made.map(({ refundId }) => refundId)).size, 1)
        assert.deepEqual(yield* refundOf(order.partId, paymentId), made[0])
        assert.equal((yield* Effect.flip(refund({ ...order, amountCents: 199 })))._tag, "PaymentFailed")
        const next = yield* refund({ ...order, partId: WithdrawalPartId.make(randomUUID()) })
        assert.notEqual(next.refundId, made[0]!.refundId)
        assert.ok((yield* paymentFee(paymentId))! >= 0)
      })
    ),

    rule(
      "returns the same book every time",
      Effect.gen(function* () {
        const { book, bookMode } = yield* PaymentGateway
        const first = yield* book
        assert.notEqual(first.accountId, "")
        assert.equal(first.mode, bookMode)
        assert.deepEqual(yield* book, first)
      })
    ),

    rule(
      "makes one transfer per payout for repeated and concurrent orders",
      Effect.gen(function* () {
        const { transfer, transferOf } = yield* PaymentGateway
        const order = yield* aTransfer
        assert.equal(yield* transferOf(order.payoutId), undefined)
        const made = yield* Effect.all(
          Array.from({ length: 8 }, () => transfer(order)),
          { concurrency: "unbounded" }
        )
        assert.equal(new Set(made.map(({ transferId }) => transferId)).size, 1)
        assert.deepEqual(yield* transferOf(order.payoutId), made[0])
        assert.equal((yield* Effect.flip(transfer({ ...order, amountCents: 999 })))._tag, "PaymentFailed")
        const next = yield* transfer({ ...order, payoutId: PayoutId.make(randomUUID()) })
        assert.notEqual(next.transferId, made[0]!.transferId)
      })
    )
  ]
}

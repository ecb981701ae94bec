/**
 * Contract of payment gateways: a repeated order happens once.
 */
import { assert, it } from "@effect/vitest"
import { Effect, type Layer } from "effect"
import { randomUUID } from "node:crypto"
import { PaymentGateway } from "../../domain/payments/PaymentGateway.ts"
import { ConsumerId, LoadId, PayoutId, ProviderId, WithdrawalPartId } from "../../domain/shared/Ids.ts"

const aCheckout = (amountCents = 500) => ({
  loadId: LoadId.make(randomUUID()),
  consumerId: ConsumerId.make(randomUUID()),
  amountCents,
  successUrl: "https://market.example/ok",
  cancelUrl: "https://market.example/no"
})

/** `ready` completes a payee's account if that needs a person. */
export const paymentGatewayContract = <E, R>(
  name: string,
  gateway: Layer.Layer<PaymentGateway | R, E>,
  ready: (accountId: string) => Effect.Effect<void, never, R>,
  /** Pays a checkout over 500 cents; returns the payment's ID. */
  pay: (sessionId: string) => Effect.Effect<string, never, R>
) =>
  it.layer(gateway, { timeout: "30 seconds", excludeTestServices: true })(`PaymentGateway over ${name}`, (it) => {
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

    it.effect("returns the same checkout for a repeated order of a load", () =>
      Effect.gen(function* () {
        const { checkout, checkoutStatus } = yield* PaymentGateway
        const order = aCheckout()
        const [one, two] = [yield* checkout(order), yield* checkout(order)]
        assert.strictEqual(one.sessionId, two.sessionId)
        assert.isNotEmpty(one.url)
        const standing = yield* checkoutStatus(one.sessionId)
        assert.deepStrictEqual([standing.loadId, standing.amountCents, standing.currency], [order.loadId, 500, "usd"])
      })
    )

    it.effect("rejects a repeated load with another amount", () =>
      Effect.gen(function* () {
        const { checkout } = yield* PaymentGateway
        const order = aCheckout()
        yield* checkout(order)
        assert.strictEqual((yield* Effect.flip(checkout({ ...order, amountCents: 600 })))._tag, "PaymentFailed")
      })
    )

    it.effect("rejects a checkout that was not ordered", () =>
      Effect.gen(function* () {
        const { checkoutStatus } = yield* PaymentGateway
        assert.isTrue((yield* Effect.flip(checkoutStatus("cs_unknown"))).definite)
      })
    )

    it.effect("opens one account per provider, with a link to complete it", () =>
      Effect.gen(function* () {
        const { onboard, openPayee, payee } = yield* PaymentGateway
        const { accountId, ...provider } = yield* aPayee
        assert.strictEqual(yield* openPayee(provider), accountId)
        const standing = yield* payee(accountId)
        assert.deepStrictEqual([standing.accountId, standing.payoutsEnabled], [accountId, true])
        const urls = { returnUrl: "https://market.example/done", refreshUrl: "https://market.example/again" }
        assert.isNotEmpty((yield* onboard(accountId, urls)).url)
      })
    )

    it.effect("makes one refund per part of a withdrawal for repeated and concurrent orders", () =>
      Effect.gen(function* () {
        const { paymentFee, refund, refundOf } = yield* PaymentGateway
        const paymentId = yield* aPayment
        const order = { partId: WithdrawalPartId.make(randomUUID()), paymentId, amountCents: 200 }
        assert.isUndefined(yield* refundOf(order.partId, paymentId))
        const made = yield* Effect.all(
          Array.from({ length: 8 }, () => refund(order)),
          { concurrency: "unbounded" }
        )
        assert.strictEqual(new Set(made.map(({ refundId }) => refundId)).size, 1)
        assert.deepStrictEqual(yield* refundOf(order.partId, paymentId), made[0])
        assert.strictEqual((yield* Effect.flip(refund({ ...order, amountCents: 199 })))._tag, "PaymentFailed")
        const next = yield* refund({ ...order, partId: WithdrawalPartId.make(randomUUID()) })
        assert.notStrictEqual(next.refundId, made[0]!.refundId)
        assert.isAtLeast((yield* paymentFee(paymentId))!, 0)
      })
    )

    it.effect("returns the same book every time", () =>
      Effect.gen(function* () {
        const { book, bookMode } = yield* PaymentGateway
        const first = yield* book
        assert.isNotEmpty(first.accountId)
        assert.strictEqual(first.mode, bookMode)
        assert.deepStrictEqual(yield* book, first)
      })
    )

    it.effect("makes one transfer per payout for repeated and concurrent orders", () =>
      Effect.gen(function* () {
        const { transfer, transferOf } = yield* PaymentGateway
        const order = yield* aTransfer
        assert.isUndefined(yield* transferOf(order.payoutId))
        const made = yield* Effect.all(
          Array.from({ length: 8 }, () => transfer(order)),
          { concurrency: "unbounded" }
        )
        assert.strictEqual(new Set(made.map(({ transferId }) => transferId)).size, 1)
        assert.deepStrictEqual(yield* transferOf(order.payoutId), made[0])
        assert.strictEqual((yield* Effect.flip(transfer({ ...order, amountCents: 999 })))._tag, "PaymentFailed")
        const next = yield* transfer({ ...order, payoutId: PayoutId.make(randomUUID()) })
        assert.notStrictEqual(next.transferId, made[0]!.transferId)
      })
    )
  })

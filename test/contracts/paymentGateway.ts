/**
 * What every payment processor holds to: the same order is the same, and happens once.
 */
import { assert, it } from "@effect/vitest"
import { Effect, type Layer } from "effect"
import { randomUUID } from "node:crypto"
import { PaymentGateway } from "../../domain/payments/PaymentGateway.ts"
import { ConsumerId, LoadId, PayoutId, ProviderId } from "../../domain/shared/Ids.ts"

const aCheckout = (amountCents = 500) => ({
  loadId: LoadId.make(randomUUID()),
  consumerId: ConsumerId.make(randomUUID()),
  amountCents,
  successUrl: "https://market.example/ok",
  cancelUrl: "https://market.example/no"
})

/** `ready` completes a payee's account, where that is somebody's work. */
export const paymentGatewayContract = <E, R>(
  name: string,
  gateway: Layer.Layer<PaymentGateway | R, E>,
  ready: (accountId: string) => Effect.Effect<void, never, R>
) =>
  it.layer(gateway, { timeout: "30 seconds", excludeTestServices: true })(`PaymentGateway over ${name}`, (it) => {
    const aPayee = Effect.gen(function* () {
      const { openPayee } = yield* PaymentGateway
      const provider = { providerId: ProviderId.make(randomUUID()), name: "Ada", email: "ada@example.org" }
      const accountId = yield* openPayee(provider)
      yield* ready(accountId)
      return { ...provider, accountId }
    })

    const aTransfer = Effect.gen(function* () {
      const { accountId, providerId } = yield* aPayee
      return { payoutId: PayoutId.make(randomUUID()), providerId, accountId, amountCents: 1_000 }
    })

    it.effect("the same load ordered again is the same checkout", () =>
      Effect.gen(function* () {
        const { checkout, checkoutStanding } = yield* PaymentGateway
        const order = aCheckout()
        const [one, two] = [yield* checkout(order), yield* checkout(order)]
        assert.strictEqual(one.sessionId, two.sessionId)
        assert.isNotEmpty(one.url)
        const standing = yield* checkoutStanding(one.sessionId)
        assert.deepStrictEqual([standing.loadId, standing.amountCents, standing.currency], [order.loadId, 500, "usd"])
      })
    )

    it.effect("a load over another amount is not taken for the same", () =>
      Effect.gen(function* () {
        const { checkout } = yield* PaymentGateway
        const order = aCheckout()
        yield* checkout(order)
        assert.strictEqual((yield* Effect.flip(checkout({ ...order, amountCents: 600 })))._tag, "PaymentFailed")
      })
    )

    it.effect("a checkout that nobody ordered is refused", () =>
      Effect.gen(function* () {
        const { checkoutStanding } = yield* PaymentGateway
        assert.isTrue((yield* Effect.flip(checkoutStanding("cs_unknown"))).definite)
      })
    )

    it.effect("a provider has one account, and a way to complete it", () =>
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

    it.effect("a payout is one transfer, however often and however fast it is ordered", () =>
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
      })
    )
  })

/**
 * Payment gateways against their contract, and Stripe's own ways of failing.
 */
import { assert, it } from "@effect/vitest"
import { Context, Effect, Layer, Redacted } from "effect"
import { randomUUID } from "node:crypto"
import * as DryRunGateway from "../../adapters/payments/DryRunGateway.ts"
import * as StripeGateway from "../../adapters/payments/StripeGateway.ts"
import { PaymentGateway } from "../../domain/payments/PaymentGateway.ts"
import { ConsumerId, LoadId, PayoutId, ProviderId } from "../../domain/shared/Ids.ts"
import { paymentGatewayContract } from "../contracts/paymentGateway.ts"
import { type Mishap, StripeDouble } from "../support/stripe/StripeDouble.ts"

class Double extends Context.Service<Double, StripeDouble>()("agent-tool-billing/test/StripeDouble") {}

const KEYS = { secretKey: "sk_test_double", webhookSecret: "whsec_double" }

const stripe = Layer.effect(
  Double,
  Effect.acquireRelease(
    Effect.promise(() => StripeDouble.start(KEYS)),
    (double) => Effect.promise(() => double.stop())
  )
)

const over = (secretKey = KEYS.secretKey) =>
  Layer.unwrap(
    Effect.map(Double, (double) =>
      StripeGateway.layer({
        secretKey: Redacted.make(secretKey),
        webhookSecret: Redacted.make(KEYS.webhookSecret),
        apiBase: double.url
      })
    )
  ).pipe(Layer.provideMerge(stripe))

const complete = (accountId: string) =>
  Effect.map(Double, ({ state }) => {
    const account = state.accounts.get(accountId)!
    account.complete = true
    account.due = []
  })

paymentGatewayContract("a dry run", DryRunGateway.layer, () => Effect.void)
paymentGatewayContract("Stripe's double", over(), complete)

const LIVE = { timeout: "60 seconds", excludeTestServices: true } as const

it.layer(over(), LIVE)("Stripe", (it) => {
  const aTransfer = Effect.gen(function* () {
    const { openPayee } = yield* PaymentGateway
    const providerId = ProviderId.make(randomUUID())
    const accountId = yield* openPayee({ providerId, name: "Ada", email: "ada@example.org" })
    return { payoutId: PayoutId.make(randomUUID()), providerId, accountId, amountCents: 1_000 }
  })

  const failures: ReadonlyArray<readonly [Mishap["kind"], definite: boolean, done: boolean]> = [
    ["429", false, false],
    ["500_before", false, false],
    ["500_after", false, true],
    ["reset_before", false, false],
    ["reset_after", false, true]
  ]
  for (const [kind, definite, done] of failures) {
    it.effect(`a transfer that ends in ${kind} is ${definite ? "" : "not "}known to have failed`, () =>
      Effect.gen(function* () {
        const { transfer, transferOf } = yield* PaymentGateway
        const order = yield* aTransfer
        yield* complete(order.accountId)
        const { mishaps, state } = yield* Double
        const before = state.transfers.size
        // The package itself sends again, under the same key, where a connection was reset.
        for (let n = 0; n < (kind.startsWith("reset") ? 2 : 1); n++) mishaps.push({ path: "/v1/transfers", kind })
        assert.strictEqual((yield* Effect.flip(transfer(order))).definite, definite)
        assert.strictEqual(state.transfers.size - before, done ? 1 : 0)
        assert.strictEqual((yield* transferOf(order.payoutId)) !== undefined, done)
      })
    )
  }

  it.effect("refuses an account that is not complete, for good", () =>
    Effect.gen(function* () {
      const { payee, transfer } = yield* PaymentGateway
      const order = yield* aTransfer
      assert.isTrue((yield* Effect.flip(transfer(order))).definite)
      const standing = yield* payee(order.accountId)
      assert.deepStrictEqual(
        [standing.status, standing.payoutsEnabled, standing.currentlyDue.length],
        ["pending", false, 2]
      )
    })
  )

  it.effect("names the load of a payment", () =>
    Effect.gen(function* () {
      const { checkout, checkoutStanding, loadOfPayment } = yield* PaymentGateway
      const double = yield* Double
      const loadId = LoadId.make(randomUUID())
      const { sessionId } = yield* checkout({
        loadId,
        consumerId: ConsumerId.make(randomUUID()),
        amountCents: 700,
        successUrl: "https://market.example/ok",
        cancelUrl: "https://market.example/no"
      })
      assert.strictEqual((yield* checkoutStanding(sessionId)).state, "open")
      double.pay(sessionId)
      const standing = yield* checkoutStanding(sessionId)
      assert.strictEqual(standing.state, "paid")
      assert.strictEqual(yield* loadOfPayment(standing.paymentId!), loadId)
    })
  )

  it.effect("believes only what Stripe has signed, as it was signed", () =>
    Effect.gen(function* () {
      const { readEvent } = yield* PaymentGateway
      const { webhooks } = yield* Double
      webhooks.snapshot("balance.available", {})
      const event = webhooks.sent.at(-1)!
      const signature = webhooks.signatureOf(event)
      assert.strictEqual((yield* readEvent(event.body, signature))._tag, "Irrelevant")
      for (const [body, header] of [
        [event.body, ""],
        [event.body, "t=1,v1=00"],
        [`${event.body} `, signature],
        [event.body, signature.replace("v1=", "v1=0")],
        [event.body, `t=1${signature.slice(signature.indexOf(","))}`],
        ["not JSON", signature]
      ] as const) {
        assert.strictEqual((yield* Effect.flip(readEvent(body, header)))._tag, "UntrustedEvent")
      }
    })
  )
})

it.layer(over("sk_test_wrong"), LIVE)("Stripe with a wrong key", (it) => {
  it.effect("says so", () =>
    Effect.gen(function* () {
      const { transferOf } = yield* PaymentGateway
      const error = yield* Effect.flip(transferOf(PayoutId.make(randomUUID())))
      assert.isTrue(error.definite)
      assert.include(error.message, "Invalid API Key")
    })
  )
})

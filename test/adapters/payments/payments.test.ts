/**
 * Payment gateways against their contract, and failures specific to Stripe.
 */
import { assert, it } from "@effect/vitest"
import { Context, Effect, Layer, Redacted } from "effect"
import { randomUUID } from "node:crypto"
import * as DryRunGateway from "../../../adapters/payments/DryRunGateway.ts"
import * as StripeGateway from "../../../adapters/payments/StripeGateway.ts"
import { PaymentGateway } from "../../../domain/ledger/PaymentGateway.ts"
import { ConsumerId, LoadId, PayoutId, ProviderId } from "../../../domain/shared/Ids.ts"
import { paymentGatewayContract } from "../../../testing/contracts/ledger/PaymentGatewayContract.ts"
import { contractOver } from "../../contracts/contractOver.ts"
import { type Mishap, StripeDouble } from "../../../testing/stripe/StripeDouble.ts"

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

const pay = (sessionId: string) =>
  Effect.map(Double, (double) => {
    double.pay(sessionId)
    return double.state.sessions.get(sessionId)!.payment_intent!
  })

contractOver(
  "PaymentGateway over a dry run",
  paymentGatewayContract({
    ready: () => Effect.void,
    pay: (sessionId) => Effect.succeed(`payment of ${sessionId}`)
  }),
  DryRunGateway.layer
)
contractOver("PaymentGateway over Stripe's double", paymentGatewayContract({ ready: complete, pay }), over())

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
        // The package itself retries, under the same key, where a connection was reset.
        for (let n = 0; n < (kind.startsWith("reset") ? 2 : 1); n++) mishaps.push({ path: "/v1/transfers", kind })
        assert.strictEqual((yield* Effect.flip(transfer(order))).definite, definite)
        assert.strictEqual(state.transfers.size - before, done ? 1 : 0)
        assert.strictEqual((yield* transferOf(order.payoutId)) !== undefined, done)
      })
    )
  }

  it.effect("rejects an incomplete account permanently", () =>
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
      const { checkout, checkoutStatus, loadOfPayment } = yield* PaymentGateway
      const double = yield* Double
      const loadId = LoadId.make(randomUUID())
      const { sessionId } = yield* checkout({
        loadId,
        consumerId: ConsumerId.make(randomUUID()),
        amountCents: 700,
        successUrl: "https://market.example/ok",
        cancelUrl: "https://market.example/no"
      })
      assert.strictEqual((yield* checkoutStatus(sessionId)).state, "open")
      double.pay(sessionId)
      const standing = yield* checkoutStatus(sessionId)
      assert.strictEqual(standing.state, "paid")
      assert.strictEqual(yield* loadOfPayment(standing.paymentId!), loadId)
    })
  )

  it.effect("reads chargebacks from their opening to their end, with their costs, and no malformed ones", () =>
    Effect.gen(function* () {
      const { checkout, paymentFee, readEvent } = yield* PaymentGateway
      const double = yield* Double
      const { sessionId } = yield* checkout({
        loadId: LoadId.make(randomUUID()),
        consumerId: ConsumerId.make(randomUUID()),
        amountCents: 1_000,
        successUrl: "https://market.example/ok",
        cancelUrl: "https://market.example/no"
      })
      const paymentId = yield* pay(sessionId)
      double.state.feeOf = (cents) => Math.ceil(cents * 0.029) + 30
      double.state.disputeFeeCents = 1_500
      assert.strictEqual(yield* paymentFee(paymentId), 59)
      const before = double.webhooks.sent.length
      double.openDispute(paymentId)
      double.dispute(paymentId)
      double.dispute(paymentId, false)
      const events = yield* Effect.forEach(double.webhooks.sent.slice(before), (event) =>
        readEvent(event.body, double.webhooks.signatureOf(event))
      )
      assert.deepStrictEqual(
        events.map((event) =>
          event._tag === "PaymentDisputed"
            ? [event.state, event.amountCents, event.paymentId, event.fees?.map(({ cents }) => cents)]
            : event._tag
        ),
        [
          ["opened", 1_000, paymentId, []],
          ["withdrawn", 1_000, paymentId, [1_500]],
          ["lost", 1_000, paymentId, [1_500]]
        ]
      )
      for (const amount of [undefined, null, "1000", 10.5, -1, 0]) {
        double.webhooks.snapshot("charge.dispute.created", { id: "dp_odd", payment_intent: paymentId, amount })
        const event = double.webhooks.sent.at(-1)!
        const error = yield* Effect.flip(readEvent(event.body, double.webhooks.signatureOf(event)))
        assert.strictEqual(error._tag, "UntrustedEvent", String(amount))
      }
      for (const fee of [undefined, "59", 1.5, -1]) {
        double.state.feeOf = () => fee as number
        assert.isFalse((yield* Effect.flip(paymentFee(paymentId))).definite, String(fee))
      }
      double.state.feeOf = () => 0
    })
  )

  it.effect("accepts only what Stripe has signed, as it was signed", () =>
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
  it.effect("reports that", () =>
    Effect.gen(function* () {
      const { transferOf } = yield* PaymentGateway
      const error = yield* Effect.flip(transferOf(PayoutId.make(randomUUID())))
      assert.isTrue(error.definite)
      assert.include(error.message, "Invalid API Key")
    })
  )
})

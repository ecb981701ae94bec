/**
 * Responses of a processor that contradict its documentation: every order fails and is retried, never as a defect,
 * and never as done.
 */
import { assert, it } from "@effect/vitest"
import { Context, Effect, Layer, Redacted } from "effect"
import { createHmac, randomUUID } from "node:crypto"
import { createServer, type Server } from "node:http"
import { Stripe } from "stripe"
import * as StripeGateway from "../../adapters/payments/StripeGateway.ts"
import { PaymentGateway } from "../../domain/ledger/PaymentGateway.ts"
import { ConsumerId, LoadId, PayoutId, ProviderId, WithdrawalPartId } from "../../domain/shared/Ids.ts"
import { aConsumer, aProvider, at } from "../support/market/Market.ts"
import { memoryConfig, wholeService } from "../support/market/ServiceConfig.ts"
import { LIVE, send, ServiceUnderTest } from "../support/market/ServiceUnderTest.ts"

const SECRET = "whsec_double"
const signing = new Stripe("sk_test_signs_only")

/** Answers every request except the first with the same text and status. */
class Garbled extends Context.Service<Garbled, { text: string; status: number; readonly url: string }>()(
  "agent-tool-billing/test/Garbled"
) {}

const garbled = Layer.effect(
  Garbled,
  Effect.gen(function* () {
    const state = { text: "{}", status: 200 }
    const server = yield* Effect.acquireRelease(
      Effect.promise(
        () =>
          new Promise<Server>((resolve) => {
            const made: Server = createServer(({ url }, response) => {
              // The account has to be known before anything is posted.
              const { status, text } = url === "/v1/account" ? { status: 200, text: '{"id":"acct_1"}' } : state
              response.writeHead(status, { "content-type": "application/json" }).end(text)
            }).listen(0, "127.0.0.1", () => resolve(made))
          })
      ),
      (made) =>
        Effect.sync(() => {
          made.closeAllConnections()
          made.close()
        })
    )
    const address = server.address()
    const port = typeof address === "object" && address !== null ? address.port : 0
    return Object.assign(state, { url: `http://127.0.0.1:${port}` })
  })
)

const gateway = Layer.unwrap(
  Effect.map(Garbled, ({ url }) =>
    StripeGateway.layer({
      secretKey: Redacted.make("sk_test_double"),
      webhookSecret: Redacted.make(SECRET),
      apiBase: url
    })
  )
).pipe(Layer.provideMerge(garbled))

const ANSWERS: ReadonlyArray<unknown> = [
  {},
  [],
  7,
  null,
  "paid",
  { error: true },
  { error: "no" },
  { id: null },
  { id: "" },
  { id: "x" },
  { id: {}, url: [], data: {} },
  { id: "x", url: "https://x", expires_at: "soon", amount: "10", amount_reversed: 0, metadata: null, data: [null] },
  { id: "x", amount: 1_000, amount_reversed: 1_001, expires_at: "soon", requirements: { entries: [{}] }, data: [{}] },
  { id: "x", amount: -5, amount_reversed: 0, expires_at: null, requirements: { entries: 7 }, data: "none" },
  { id: "x", payment_status: "paid", client_reference_id: randomUUID(), amount_total: null, currency: "usd" },
  { id: "x", payment_status: "paid", client_reference_id: randomUUID(), amount_total: 5, currency: null }
]

const signed = (body: string, seconds = Math.floor(Date.now() / 1_000)): string =>
  signing.webhooks.generateTestHeaderString({ payload: body, secret: SECRET, timestamp: seconds })

it.layer(gateway, LIVE)("A malformed response of Stripe", (it) => {
  const orders = Effect.map(PaymentGateway, (stripe) => {
    const [providerId, paymentId] = [ProviderId.make(randomUUID()), "pi_1"]
    const urls = { returnUrl: "https://market.example/a", refreshUrl: "https://market.example/b" }
    const transfer = { payoutId: PayoutId.make(randomUUID()), providerId, accountId: "acct_1", amountCents: 1_000 }
    return {
      checkout: stripe.checkout({
        loadId: LoadId.make(randomUUID()),
        consumerId: ConsumerId.make(randomUUID()),
        amountCents: 500,
        successUrl: "https://market.example/ok",
        cancelUrl: "https://market.example/no"
      }),
      checkoutStatus: stripe.checkoutStatus("cs_1"),
      loadOfPayment: stripe.loadOfPayment(paymentId),
      paymentFee: stripe.paymentFee(paymentId),
      refund: stripe.refund({ partId: WithdrawalPartId.make(randomUUID()), paymentId, amountCents: 5 }),
      refundOf: stripe.refundOf(WithdrawalPartId.make(randomUUID()), paymentId),
      openPayee: stripe.openPayee({ providerId, name: "Ada", email: "ada@example.org" }),
      onboard: stripe.onboard("acct_1", urls),
      payee: stripe.payee("acct_1"),
      transfer: stripe.transfer(transfer),
      transferOf: stripe.transferOf(transfer.payoutId)
    } as const
  })

  it.effect("fails every order as a failure, never as a defect", () =>
    Effect.gen(function* () {
      const answers = yield* Garbled
      for (const answer of ANSWERS) {
        for (const status of [200, 404, 500]) {
          Object.assign(answers, { text: JSON.stringify(answer), status })
          for (const [name, order] of Object.entries(yield* orders)) {
            const exit = yield* Effect.exit(order as Effect.Effect<unknown, unknown>)
            const seen = `${name} ${status} ${answers.text}: ${String(exit)}`
            if (exit._tag === "Failure")
              assert.deepStrictEqual(
                exit.cause.reasons.map(({ _tag }) => _tag),
                ["Fail"],
                seen
              )
          }
        }
      }
    })
  )

  it.effect("does not confirm what it does not state", () =>
    Effect.gen(function* () {
      const answers = yield* Garbled
      Object.assign(answers, { text: "{}", status: 200 })
      const all = yield* orders
      for (const name of [
        "checkout",
        "refund",
        "refundOf",
        "openPayee",
        "onboard",
        "payee",
        "transfer",
        "transferOf"
      ] as const) {
        const error = yield* Effect.flip(all[name] as Effect.Effect<unknown, { readonly definite: boolean }>)
        assert.isFalse(error.definite, `${name} may have been done`)
      }
      Object.assign(answers, { text: '{"id":"x","amount":1000,"amount_reversed":1001}' })
      assert.isFalse((yield* Effect.flip(all.transfer)).definite)
    })
  )

  it.effect("reads a fee only in the currency of the ledger", () =>
    Effect.gen(function* () {
      const answers = yield* Garbled
      const { paymentFee } = yield* orders
      const booked = (currency: string) =>
        JSON.stringify({ id: "pi_1", latest_charge: { id: "ch_1", balance_transaction: { fee: 59, currency } } })
      Object.assign(answers, { text: booked("usd"), status: 200 })
      assert.strictEqual(yield* paymentFee, 59)
      Object.assign(answers, { text: booked("eur") })
      const error = yield* Effect.flip(paymentFee)
      assert.include(error.message, "eur")
    })
  )

  it.effect("is rejected as an event that is signed but malformed, or signed in the future", () =>
    Effect.gen(function* () {
      const { readEvent } = yield* PaymentGateway
      const event = {
        id: "evt_1",
        object: "event",
        created: 1_700_000_000,
        type: "balance.available",
        data: { object: {} }
      }
      const text = JSON.stringify(event)
      assert.strictEqual((yield* readEvent(text, signed(text)))._tag, "Irrelevant")
      const paid = { ...event, type: "checkout.session.completed" }
      const session = { id: "cs_1", payment_status: "paid", client_reference_id: randomUUID(), amount_total: 5 }
      for (const wrong of [
        { ...event, id: null },
        { ...event, created: "now" },
        { ...paid, data: null },
        { ...paid, data: { object: null } },
        { ...paid, data: { object: session } },
        { ...paid, data: { object: { ...session, amount_total: "5", currency: "usd" } } },
        { ...event, type: "transfer.reversed", data: { object: { transfer_group: randomUUID() } } },
        { ...event, type: "refund.updated", data: { object: { payment_intent: "pi_1", amount: 5 } } },
        { object: "v2.core.event", type: "v2.core.account.updated" }
      ]) {
        const body = JSON.stringify(wrong)
        assert.strictEqual((yield* Effect.flip(readEvent(body, signed(body))))._tag, "UntrustedEvent", body)
      }
      const now = Math.floor(Date.now() / 1_000)
      assert.strictEqual((yield* readEvent(text, signed(text, now + 200)))._tag, "Irrelevant")
      for (const seconds of [now + 400, now + 86_400, now + 10 ** 9]) {
        const error = yield* Effect.flip(readEvent(text, signed(text, seconds)))
        assert.include(error.message, "more than 300 s in the future")
      }
      assert.strictEqual((yield* Effect.flip(readEvent(text, signed(text, now - 400))))._tag, "UntrustedEvent")
      // The package takes the last of several timestamps, and the number at the start of a text.
      const mac = (t: string) => createHmac("sha256", SECRET).update(`${t}.${text}`).digest("hex")
      for (const header of [`t=1,t=${now + 400},v1=${mac(String(now + 400))}`, `t=soon,v1=${mac("NaN")}`]) {
        assert.strictEqual((yield* Effect.flip(readEvent(text, header)))._tag, "UntrustedEvent", header)
      }
    })
  )
})

const service = ServiceUnderTest.over(
  Layer.unwrap(
    Effect.map(Garbled, ({ url }) =>
      wholeService(
        memoryConfig({
          PAYMENTS: "stripe",
          STRIPE_SECRET_KEY: "sk_test_double",
          STRIPE_WEBHOOK_SECRET: SECRET,
          STRIPE_API_BASE: url,
          ALLOW_UPSTREAM: "loopback"
        })
      )
    )
  )
).pipe(Layer.provideMerge(garbled))

it.layer(service, LIVE)("The service on a processor with malformed responses", (it) => {
  it.effect("returns 502 or 503 with a code, and changes nothing", () =>
    Effect.gen(function* () {
      const answers = yield* Garbled
      const [agent, provider] = [yield* aConsumer(), yield* aProvider()]
      const ask = (path: string, key: string, json: unknown) => send({ path, key, json })
      for (const answer of ANSWERS) {
        answers.text = JSON.stringify(answer)
        for (const asked of [
          yield* ask("/api/market/balance/load", agent.key, { amount_cents: 500 }),
          yield* ask("/api/market/connect", provider.key, {})
        ]) {
          assert.include([502, 503], asked.status, `${answers.text}: ${asked.text}`)
          assert.include(["PROVIDER_ERROR", "UNAVAILABLE"], at(asked, "code"))
        }
        const status = yield* send({ path: "/api/market/connect", key: provider.key })
        assert.strictEqual(status.status, 200)
        assert.notStrictEqual(at(status, "status"), "complete")
      }
      const refund = { payment_intent: "pi_9", id: "re_1", amount: 5, status: "succeeded" }
      const event = {
        id: "evt_9",
        object: "event",
        created: 1_700_000_000,
        type: "refund.updated",
        data: { object: refund }
      }
      const body = JSON.stringify(event)
      answers.text = "{}"
      const headers = { "content-type": "application/json", "stripe-signature": signed(body) }
      const told = yield* send({ path: "/api/webhooks/stripe", body, headers })
      assert.deepStrictEqual([told.status, at(told, "code")], [502, "PROVIDER_ERROR"], told.text)
    })
  )
})

/**
 * All steps over HTTP with Stripe's double and the real stripe package: a consumer pays, calls are paid for, a
 * provider completes its account and is paid.
 */
import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { createHmac } from "node:crypto"
import { HeldStripe, STRIPE_SECRET_KEY, stripeSettings } from "../support/market/HeldStripe.ts"
import { aConsumer, aProvider, at, expecting, type Member, textAt } from "../support/market/Market.ts"
import { memoryConfig, wholeService } from "../support/market/ServiceConfig.ts"
import { LIVE, send, ServiceUnderTest } from "../support/market/ServiceUnderTest.ts"
import type { Event } from "../../testing/stripe/Webhooks.ts"
import type { StripeDouble } from "../../testing/stripe/StripeDouble.ts"
import { fine, providing } from "../support/metering/Provider.ts"

const OPERATOR_KEY = "the operator's key of the tests, 32 characters"

const settings = (started: StripeDouble) => ({ ...stripeSettings(started), OPERATOR_KEY })

const service = ServiceUnderTest.over(
  Layer.unwrap(Effect.map(HeldStripe, (started) => wholeService(memoryConfig(settings(started)))))
).pipe(Layer.provideMerge(HeldStripe.layer))

const deliver = Effect.fnUntraced(function* (event: Event) {
  const { webhooks } = yield* HeldStripe
  const headers = { "content-type": "application/json; charset=utf-8", "stripe-signature": webhooks.signatureOf(event) }
  return yield* send({ path: "/api/webhooks/stripe", body: event.body, headers })
})

const deliverAll = Effect.gen(function* () {
  const { webhooks } = yield* HeldStripe
  for (const event of webhooks.held.splice(0)) assert.strictEqual((yield* deliver(event)).status, 200, event.type)
})

const balanceOf = ({ key }: Member) =>
  Effect.map(expecting(200, { path: "/api/v1/market/balance", key }), (answer) => at(answer, "balance_cents"))

const load = (member: Member, key?: string) =>
  expecting(200, {
    path: "/api/market/balance/load",
    key: member.key,
    json: { amount_cents: 5_000 },
    ...(key === undefined ? {} : { headers: { "idempotency-key": key } })
  })

it.layer(service, LIVE)("With Stripe", (it) => {
  it.effect("a consumer pays on the hosted page, and the load is credited once", () =>
    Effect.gen(function* () {
      const stripe = yield* HeldStripe
      const agent = yield* aConsumer()
      const first = yield* load(agent, "load one")
      const again = yield* load(agent, "load one")
      assert.strictEqual(again.text, first.text)
      assert.strictEqual(again.headers["idempotent-replay"], "true")
      assert.strictEqual(yield* balanceOf(agent), 0)
      const page = yield* Effect.promise(() => fetch(textAt(first, "checkout_url")))
      assert.include(yield* Effect.promise(() => page.text()), "Pay 50.00 usd")
      stripe.pay(textAt(first, "session_id"))
      const [completed] = stripe.webhooks.held
      yield* deliverAll
      assert.strictEqual(yield* balanceOf(agent), 5_000)
      assert.strictEqual(at(yield* deliver(completed!), "outcome"), "repeated")
      assert.strictEqual(yield* balanceOf(agent), 5_000)
    })
  )

  it.effect("payments whose webhooks are lost are credited by one request to the processor", () =>
    Effect.gen(function* () {
      const stripe = yield* HeldStripe
      const agents = yield* Effect.all(Array.from({ length: 3 }, () => aConsumer()))
      const sessions = yield* Effect.forEach(agents, (agent) =>
        Effect.map(load(agent), (one) => textAt(one, "session_id"))
      )
      stripe.pay(sessions[0]!)
      stripe.pay(sessions[1]!, "later")
      stripe.pay(sessions[1]!, "later_succeeds")
      stripe.pay(sessions[2]!, "later")
      stripe.webhooks.held.splice(0)
      stripe.requests.splice(0)
      const balances = Effect.forEach(agents, balanceOf)
      yield* Effect.repeat(Effect.andThen(Effect.sleep("200 millis"), balances), {
        until: ([first, second]) => first === 5_000 && second === 5_000
      })
      assert.deepStrictEqual(yield* balances, [5_000, 5_000, 0])
      assert.include(stripe.requests, "GET /v1/events")
      assert.notInclude(stripe.requests, `GET /v1/checkout/sessions/${sessions[0]}`)
    })
  )

  it.effect("a delayed payment is credited when it completes, a failed one is not", () =>
    Effect.gen(function* () {
      const stripe = yield* HeldStripe
      const [agent, other] = [yield* aConsumer(), yield* aConsumer()]
      const [good, bad] = [textAt(yield* load(agent), "session_id"), textAt(yield* load(other), "session_id")]
      for (const session of [good, bad]) stripe.pay(session, "later")
      yield* deliverAll
      assert.deepStrictEqual([yield* balanceOf(agent), yield* balanceOf(other)], [0, 0])
      stripe.pay(good, "later_succeeds")
      stripe.pay(bad, "later_fails")
      yield* deliverAll
      assert.deepStrictEqual([yield* balanceOf(agent), yield* balanceOf(other)], [5_000, 0])
    })
  )

  it.effect("a chargeback leaves the wallet, and returns when it is won", () =>
    Effect.gen(function* () {
      const stripe = yield* HeldStripe
      const agent = yield* aConsumer()
      const session = textAt(yield* load(agent), "session_id")
      stripe.pay(session)
      yield* deliverAll
      const payment = stripe.state.sessions.get(session)!.payment_intent!
      stripe.dispute(payment)
      yield* deliverAll
      assert.strictEqual(yield* balanceOf(agent), 0)
      stripe.dispute(payment, true)
      yield* deliverAll
      assert.strictEqual(yield* balanceOf(agent), 5_000)
    })
  )

  it.effect("an account with an open chargeback can read and load, but not spend or withdraw", () =>
    Effect.gen(function* () {
      const stripe = yield* HeldStripe
      const server = yield* providing(fine)
      const provider = yield* aProvider({
        endpoint_url: server.url,
        tools: [{ tool_name: "search", price_microcents: 1_000_000 }]
      })
      const agent = yield* aConsumer()
      const { key } = agent
      const session = textAt(yield* load(agent), "session_id")
      stripe.pay(session)
      yield* deliverAll
      const payment = stripe.state.sessions.get(session)!.payment_intent!
      const call = { tool_name: "search", provider_id: provider.id, input: {} }
      yield* expecting(200, { path: "/api/market/proxy", key, json: call })
      stripe.openDispute(payment)
      yield* deliverAll
      const report = { tool_name: "search", status: "success", duration_ms: 5 }
      for (const [path, json] of [
        ["/api/market/proxy", call],
        ["/api/v1/market/meter", report],
        ["/api/v1/market/balance/withdraw", { amount_cents: 100 }]
      ] as const) {
        assert.strictEqual(at(yield* expecting(403, { path, key, json }), "code"), "ACCOUNT_FROZEN", path)
      }
      for (const path of ["/api/v1/market/balance", "/api/v1/market/whoami"]) {
        const shown = yield* expecting(200, { path, key })
        assert.strictEqual(at(shown, "frozen"), true)
        assert.include(textAt(shown, "frozen_reason"), "disputed at the bank")
      }
      yield* load(agent)
      yield* expecting(200, { path: "/api/v1/market/balance/withdraw", key })

      const unfreeze = { path: `/api/v1/operator/consumers/${agent.id}/unfreeze`, method: "POST" }
      yield* expecting(403, { ...unfreeze, key })
      assert.strictEqual(at(yield* expecting(200, { ...unfreeze, key: OPERATOR_KEY }), "was_frozen"), true)
      yield* expecting(200, { path: "/api/market/proxy", key, json: call })
      const unknown = "/api/v1/operator/consumers/00000000-0000-4000-8000-000000000000/unfreeze"
      yield* expecting(404, { path: unknown, method: "POST", key: OPERATOR_KEY })
    })
  )

  it.effect("unspent funds are refunded to the card, and the webhook of that refund moves nothing more", () =>
    Effect.gen(function* () {
      const stripe = yield* HeldStripe
      stripe.state.feeOf = (cents) => Math.ceil(cents * 0.029) + 30
      const agent = yield* aConsumer()
      const { key } = agent
      const session = textAt(yield* load(agent), "session_id")
      stripe.pay(session)
      yield* deliverAll
      const payment = stripe.state.sessions.get(session)!.payment_intent!
      const path = "/api/v1/market/balance/withdraw"
      const refunds = () => [...stripe.state.refunds.values()].filter((one) => one.payment_intent === payment)
      // The response is lost: the retry finds the refund and makes no second one.
      stripe.mishaps.push({ path: "/v1/refunds", kind: "500_after" })
      const pending = yield* expecting(201, { path, key, json: { amount_cents: 2_000 } })
      assert.deepStrictEqual([at(pending, "mode"), at(pending, "status")], ["live", "pending"])
      assert.strictEqual(at(pending, "processor_fee_cents"), 70)
      yield* Effect.gen(function* () {
        const listed = yield* expecting(200, { path, key })
        if (at(listed, "withdrawals", 0, "status") !== "paid") return yield* Effect.fail("not yet" as const)
        return listed
      }).pipe(Effect.delay("200 millis"), Effect.retry({ times: 150 }), Effect.orDie)
      assert.deepStrictEqual(
        refunds().map(({ amount }) => amount),
        [1_930]
      )
      yield* deliverAll
      assert.strictEqual(yield* balanceOf(agent), 3_000)
      const more = yield* expecting(422, { path, key, json: { amount_cents: 3_001 } })
      assert.deepStrictEqual([at(more, "code"), at(more, "withdrawable_cents")], ["NOT_WITHDRAWABLE", 3_000])
      stripe.failRefund(refunds()[0]!.id)
      yield* deliverAll
      assert.strictEqual(yield* balanceOf(agent), 4_930)
      stripe.state.feeOf = () => 0
    })
  )

  it.effect("a new account loads at most its daily limit, in any number of concurrent checkouts", () =>
    Effect.gen(function* () {
      const agent = yield* aConsumer()
      const ask = send({ path: "/api/market/balance/load", key: agent.key, json: { amount_cents: 30_000 } })
      const answers = yield* Effect.all(
        Array.from({ length: 8 }, () => ask),
        { concurrency: "unbounded" }
      )
      assert.strictEqual(answers.filter(({ status }) => status === 200).length, 3)
      const refused = answers.find(({ status }) => status !== 200)!
      assert.deepStrictEqual(
        [refused.status, at(refused, "code"), at(refused, "limit_cents"), at(refused, "left_cents")],
        [422, "LOAD_LIMIT_REACHED", 100_000, 10_000]
      )
      const waitHours = (Date.parse(textAt(refused, "retry_at")) - Date.now()) / 3_600_000
      assert.isTrue(waitHours > 20 && waitHours <= 24, String(waitHours))
      yield* expecting(200, { path: "/api/market/balance/load", key: agent.key, json: { amount_cents: 10_000 } })
      yield* expecting(422, { path: "/api/market/balance/load", key: agent.key, json: { amount_cents: 100 } })
    })
  )

  it.effect("an event without Stripe's signature is rejected and has no effect", () =>
    Effect.gen(function* () {
      const stripe = yield* HeldStripe
      const agent = yield* aConsumer()
      stripe.pay(textAt(yield* load(agent), "session_id"))
      const [event] = stripe.webhooks.held.splice(0)
      const forged = createHmac("sha256", "whsec_other").update(`1.${event!.body}`).digest("hex")
      for (const signature of ["", `t=1,v1=${forged}`]) {
        const headers = { "content-type": "application/json", "stripe-signature": signature }
        const answer = yield* send({ path: "/api/webhooks/stripe", body: event!.body, headers })
        assert.deepStrictEqual([answer.status, at(answer, "code")], [400, "BAD_REQUEST"])
      }
      assert.strictEqual(yield* balanceOf(agent), 0)
    })
  )

  it.effect("a provider earns, completes its account, and is paid", () =>
    Effect.gen(function* () {
      const stripe = yield* HeldStripe
      const server = yield* providing(fine)
      const provider = yield* aProvider({
        endpoint_url: server.url,
        tools: [{ tool_name: "search", price_microcents: 12_000_000 }]
      })
      const agent = yield* aConsumer()
      stripe.pay(textAt(yield* load(agent), "session_id"))
      yield* deliverAll
      const json = { tool_name: "search", provider_id: provider.id, input: {} }
      yield* expecting(200, { path: "/api/market/proxy", key: agent.key, json })

      const connection = { path: "/api/market/connect", key: provider.key }
      assert.strictEqual(at(yield* expecting(200, connection), "status"), "not_started")
      const payouts = { path: "/api/market/payouts", key: provider.key }
      const early = yield* expecting(422, { ...payouts, json: {} })
      assert.match(textAt(early, "connect_url"), /\/api\/market\/connect$/u)
      const link = textAt(yield* expecting(200, { ...connection, json: {} }), "onboarding_url")
      assert.strictEqual(at(yield* expecting(200, connection), "status"), "pending")
      yield* Effect.promise(() =>
        fetch(link, { method: "POST", body: new URLSearchParams({ do: "complete" }), redirect: "manual" })
      )
      yield* deliverAll
      assert.strictEqual(at(yield* expecting(200, connection), "status"), "complete")

      stripe.mishaps.push({ path: "/v1/transfers", kind: "500_after" })
      const asked = yield* expecting(200, {
        ...payouts,
        method: "POST",
        headers: { "content-type": "application/json" }
      })
      assert.strictEqual(at(asked, "status"), "transferring")
      assert.strictEqual(at(asked, "amount_cents"), 1_080)
      const paid = yield* Effect.gen(function* () {
        const history = yield* expecting(200, payouts)
        return at(history, "history", 0, "status") === "paid" ? history : yield* Effect.fail("not yet" as const)
      }).pipe(Effect.delay("200 millis"), Effect.retry({ times: 75 }), Effect.orDie)
      assert.strictEqual(at(paid, "pending_balance_cents"), 0)
      assert.strictEqual(stripe.state.transfers.size, 1)

      const summary = yield* expecting(200, {
        path: "/api/v1/market/billing/provider-summary",
        key: provider.key,
        json: { period: "7d" }
      })
      assert.deepStrictEqual(
        [
          at(summary, "earnings", "gross_revenue"),
          at(summary, "earnings", "net_earnings"),
          at(summary, "payout", "last_payout_cents")
        ],
        ["$12.00", "$10.80", 1_080]
      )
      const { ok } = yield* Effect.promise(() =>
        fetch(`${stripe.url}/v1/transfers/${[...stripe.state.transfers.keys()][0]}/reversals`, {
          method: "POST",
          headers: { authorization: `Bearer ${STRIPE_SECRET_KEY}` }
        })
      )
      assert.isTrue(ok)
      yield* deliverAll
      const books = yield* expecting(200, payouts)
      assert.deepStrictEqual(
        [at(books, "history", 0, "status"), at(books, "pending_balance_cents")],
        ["reversed", 1_080]
      )
    })
  )
})

/**
 * Accounts and keys that may not spend, at the doors of both eras: the rejection says why, lists can still be read, nothing
 * reaches the provider, and nothing is held.
 */
import { assert, it } from "@effect/vitest"
import { Effect, Fiber, Layer } from "effect"
import { json, result, text } from "../../testing/mcp/ScriptedServer.ts"
import { HeldStripe, stripeSettings } from "../support/HeldStripe.ts"
import { posted, purseOf } from "../support/load/LoadMarket.ts"
import { at, billingOf, opened, textOf } from "../support/mcp/DoorClient.ts"
import { aClientOf, aServerOf, type Era, ERAS } from "../support/mcp/EitherEra.ts"
import { eventsOf } from "../support/mcp/GatedServer.ts"
import { eventually } from "../support/mcp/McpClient.ts"
import { fine } from "../support/mcp/ADoor.ts"
import { RawHttp } from "../support/RawHttp.ts"
import { LIVE } from "../support/ServiceUnderTest.ts"

const PRICE = 10_000
const LOADED = 50_000_000
const CENTS = 5_000
const ECHO_CALL = { name: "echo", arguments: {} }
const SHORT_SECONDS = 8

const service = Layer.unwrap(
  Effect.map(HeldStripe, (stripe) => RawHttp.layer({ ...stripeSettings(stripe), RATE_LIMIT_RPM: "1000" }))
).pipe(Layer.provideMerge(HeldStripe.layer))

const base = Effect.map(RawHttp, ({ port }) => `http://127.0.0.1:${port}`)

const delivered = Effect.gen(function* () {
  const { webhooks } = yield* HeldStripe
  const url = `${yield* base}/api/webhooks/stripe`
  for (const event of webhooks.held.splice(0)) {
    const headers = {
      "content-type": "application/json; charset=utf-8",
      "stripe-signature": webhooks.signatureOf(event)
    }
    const response = yield* Effect.promise(() => fetch(url, { method: "POST", body: event.body, headers }))
    assert.strictEqual(response.status, 200, event.type)
  }
})

const aConsumer = Effect.fnUntraced(function* (more: object = {}) {
  const made = yield* posted(`${yield* base}/api/market/register-consumer`, {
    name: "Agent",
    email: "agent@example.org",
    ...more
  })
  return String(made["api_key"])
})

/** Pays on the hosted page; returns the payment. */
const funded = Effect.fnUntraced(function* (key: string) {
  const stripe = yield* HeldStripe
  const ordered = yield* posted(`${yield* base}/api/market/balance/load`, { amount_cents: CENTS }, key)
  const session = String(ordered["session_id"])
  stripe.pay(session)
  yield* delivered
  return stripe.state.sessions.get(session)!.payment_intent!
})

const aProvider = Effect.fnUntraced(function* (serverUrl: string, tool: object = {}) {
  const made = yield* posted(`${yield* base}/api/market/register-provider`, {
    name: "Echo Works",
    email: "echo@example.org",
    endpoint_url: serverUrl,
    tools: [{ tool_name: "echo", price_microcents: PRICE, ...tool }]
  })
  const [listed] = made["tools"] as ReadonlyArray<{ readonly id: string }>
  return { url: `${yield* base}/mcp/${String(made["provider_id"])}`, toolId: listed!.id }
})

const aDoor = Effect.fnUntraced(function* (era: Era) {
  const server = yield* aServerOf(era, fine)
  return { ...(yield* aProvider(server.url)), server, calls: () => server.of("tools/call").length }
})

it.layer(service, LIVE)("A door rejects", (it) => {
  for (const era of ERAS) {
    it.effect(`the calls of a frozen account, ${era}, until the bank has decided for it`, () =>
      Effect.gen(function* () {
        const stripe = yield* HeldStripe
        const { calls, toolId, url } = yield* aDoor(era)
        const key = yield* aConsumer()
        const payment = yield* funded(key)
        yield* funded(key)
        const client = yield* aClientOf(era, url, key)
        assert.strictEqual(at(billingOf(yield* client.send("tools/call", ECHO_CALL)), "cost_microcents"), PRICE)
        assert.strictEqual(calls(), 1)

        stripe.openDispute(payment)
        yield* delivered
        const market = yield* aClientOf(era, `${yield* base}/mcp`, key)
        for (const refused of [
          yield* client.send("tools/call", ECHO_CALL),
          yield* client.send("tools/call", ECHO_CALL, { meta: { "agent-tool-billing/idempotency_key": "frozen" } }),
          yield* market.send("tools/call", { name: "call_tool", arguments: { tool: toolId, arguments: {} } })
        ]) {
          assert.strictEqual(refused.status, 200)
          assert.strictEqual(at(refused.body, "result", "isError"), true, refused.text)
          assert.match(
            textOf(refused),
            /^This account is frozen.*disputed at the bank.*Add funds at https?:\/\/\S+\/developers\/dashboard\. Nothing was charged\./su
          )
          const billing = { code: "ACCOUNT_FROZEN", charged: false, retryable: false, retry_after_ms: null }
          assert.include(billingOf(refused) as object, billing)
        }
        for (const reader of [client, market]) {
          const listed = yield* reader.send("tools/list")
          assert.strictEqual(listed.status, 200)
          assert.isAbove((at(listed.body, "result", "tools") as ReadonlyArray<unknown>).length, 0)
        }
        assert.strictEqual(calls(), 1)
        assert.strictEqual((yield* purseOf(yield* base, key)).held, 0)

        stripe.dispute(payment, true)
        yield* delivered
        const again = yield* client.send("tools/call", ECHO_CALL, {
          meta: { "agent-tool-billing/idempotency_key": "frozen" }
        })
        assert.strictEqual(at(billingOf(again), "cost_microcents"), PRICE, again.text)
        assert.strictEqual(calls(), 2)
      })
    )

    it.effect(`calls that the balance does not cover, ${era}`, () =>
      Effect.gen(function* () {
        const { calls, url } = yield* aDoor(era)
        const key = yield* aConsumer()
        const client = yield* aClientOf(era, url, key)
        const refused = yield* client.send("tools/call", ECHO_CALL)
        assert.strictEqual(at(refused.body, "result", "isError"), true)
        assert.match(
          textOf(refused),
          /costs \$0\.01 and \$0\.00 is available\. Add funds at http.*Nothing was charged\./su
        )
        assert.include(billingOf(refused) as object, { code: "INSUFFICIENT_FUNDS", charged: false, retryable: false })
        assert.strictEqual(at(refused.body, "result", "structuredContent") !== undefined, era === "modern")
        assert.strictEqual((yield* client.send("tools/list")).status, 200)
        assert.strictEqual(calls(), 0)
      })
    )

    it.effect(`calls that a budget does not cover, ${era}`, () =>
      Effect.gen(function* () {
        const { calls, url } = yield* aDoor(era)
        const key = yield* aConsumer()
        yield* funded(key)
        const cap = { cap_microcents: 2 * PRICE - 1, period: "day" }
        yield* posted(`${yield* base}/api/v1/market/budgets`, cap, key)
        const client = yield* aClientOf(era, url, key)
        assert.strictEqual(at(billingOf(yield* client.send("tools/call", ECHO_CALL)), "cost_microcents"), PRICE)
        const refused = yield* client.send("tools/call", ECHO_CALL)
        assert.strictEqual(at(refused.body, "result", "isError"), true)
        assert.match(
          textOf(refused),
          /^Budget \S+ does not cover this call: \$0\.009999 of \$0\.019999 is left\. It resets at/u
        )
        assert.include(billingOf(refused) as object, { code: "BUDGET_EXCEEDED", charged: false, retryable: true })
        assert.isAbove(Number(at(billingOf(refused), "retry_after_ms")), 0)
        assert.strictEqual(calls(), 1)
        assert.deepStrictEqual(yield* purseOf(yield* base, key), { balance: LOADED - PRICE, held: 0 })
      })
    )

    it.effect(`a cap below the price, ${era}, and holds the cap where it is below the maximum`, () =>
      Effect.gen(function* () {
        const most = 5 * PRICE
        const server = yield* aServerOf(era, (seen, response) =>
          json(response, result(seen, { ...text("fine"), _meta: { "market/cost_microcents": most } }))
        )
        const { url } = yield* aProvider(server.url, { max_cost_microcents: most })
        const key = yield* aConsumer()
        yield* funded(key)
        const client = yield* aClientOf(era, url, key)
        const cap = (amount: number) => ({ meta: { "agent-tool-billing/max_cost_microcents": amount } })
        for (const [sending, code] of [
          [{}, "CAP_REQUIRED"],
          [cap(PRICE - 1), "PRICE_CHANGED"],
          [{ headers: { "x-max-cost-microcents": String(PRICE - 1) } }, "PRICE_CHANGED"]
        ] as const) {
          const refused = yield* client.send("tools/call", ECHO_CALL, sending)
          assert.include(billingOf(refused) as object, { code, charged: false, retryable: false })
        }
        assert.lengthOf(server.of("tools/call"), 0)
        const paid = yield* client.send("tools/call", ECHO_CALL, cap(2 * PRICE))
        assert.strictEqual(at(billingOf(paid), "cost_microcents"), 2 * PRICE, "the provider asks for more than the cap")
        assert.deepStrictEqual(yield* purseOf(yield* base, key), { balance: LOADED - 2 * PRICE, held: 0 })
      })
    )

    it.effect(`more requests than the key's rate limit, ${era}, and charges nothing for them`, () =>
      Effect.gen(function* () {
        const { calls, url } = yield* aDoor(era)
        const key = yield* aConsumer({ rate_limit_rpm: 6 })
        yield* funded(key)
        const client = yield* aClientOf(era, url, key)
        let refused = yield* client.send("tools/call", ECHO_CALL)
        let made = 0
        for (; billingOf(refused) !== undefined && at(billingOf(refused), "cost_microcents") === PRICE; made++) {
          assert.isBelow(made, 60)
          refused = yield* client.send("tools/call", ECHO_CALL)
        }
        assert.isAbove(Number(refused.headers.get("retry-after")), 0)
        assert.strictEqual(calls(), made)
      })
    )
  }

  it.effect("to continue a call of a frozen account that waits for input, and continues it afterwards", () =>
    Effect.gen(function* () {
      const stripe = yield* HeldStripe
      const server = yield* aServerOf("modern", (seen, response) => {
        const asks = { resultType: "input_required", inputRequests: {}, requestState: "theirs" }
        json(response, result(seen, seen.params["requestState"] === "theirs" ? text("done") : asks))
      })
      const { url } = yield* aProvider(server.url)
      const key = yield* aConsumer()
      const payment = yield* funded(key)
      yield* funded(key)
      const client = yield* aClientOf("modern", url, key)
      const asked = yield* client.send("tools/call", ECHO_CALL)
      const requestState = String(at(asked.body, "result", "requestState"))
      const continued = client.send("tools/call", { ...ECHO_CALL, inputResponses: {}, requestState })
      stripe.openDispute(payment)
      yield* delivered
      for (const refused of [yield* continued, yield* continued]) {
        assert.include(billingOf(refused) as object, { code: "ACCOUNT_FROZEN", charged: false }, refused.text)
      }
      assert.lengthOf(server.of("tools/call"), 1)
      assert.strictEqual((yield* purseOf(yield* base, key)).held, PRICE)
      stripe.dispute(payment, true)
      yield* delivered
      assert.strictEqual(at(billingOf(yield* continued), "cost_microcents"), PRICE)
      assert.deepStrictEqual(yield* purseOf(yield* base, key), { balance: 2 * LOADED - PRICE, held: 0 })
    })
  )

  it.effect(
    "a key that was revoked or has expired, in the middle of a legacy session; the account's other keys go on",
    () =>
      Effect.gen(function* () {
        const { calls, server, url } = yield* aDoor("legacy")
        const first = yield* aConsumer()
        yield* funded(first)
        const keys = `${yield* base}/api/v1/market/keys`
        const second = yield* posted(keys, {}, first)
        const soon = new Date(Date.now() + SHORT_SECONDS * 1_000).toISOString()
        const third = yield* posted(keys, { expires_at: soon }, first)
        const revoked = String(second["api_key"])
        const expired = String(third["api_key"])
        const client = yield* aClientOf("legacy", url, revoked)
        // One account has one set of sessions, whatever the key.
        for (const key of [first, revoked, expired]) {
          assert.strictEqual((yield* client.send("tools/call", ECHO_CALL, { key })).status, 200)
        }
        const { key_id: id } = second["key"] as { readonly key_id: string }
        const removed = yield* Effect.promise(() =>
          fetch(`${keys}/${id}`, { method: "DELETE", headers: { authorization: `Bearer ${first}` } })
        )
        assert.strictEqual(removed.status, 200)
        yield* Effect.sleep(Math.max(0, Date.parse(soon) - Date.now()) + 100)

        const before = server.seen.length
        for (const key of [revoked, expired]) {
          const headers = { ...client.session, authorization: `Bearer ${key}`, accept: "text/event-stream" }
          for (const answer of [
            yield* client.send("tools/call", ECHO_CALL, { key }),
            yield* client.send("tools/list", {}, { key }),
            yield* client.send("notifications/cancelled", { requestId: 1 }, { key }),
            ...(yield* Effect.forEach(["GET", "DELETE"], (method) =>
              Effect.promise(() => fetch(url, { method, headers }))
            ))
          ]) {
            assert.strictEqual(answer.status, 401)
            assert.match(answer.headers.get("www-authenticate") ?? "", /^Bearer/u)
          }
        }
        assert.lengthOf(server.seen, before, "nothing reaches the provider")
        assert.strictEqual(calls(), 3)
        const goesOn = yield* client.send("tools/call", ECHO_CALL, { key: first })
        assert.strictEqual(at(billingOf(goesOn), "cost_microcents"), PRICE, "the session is the account's")
      })
  )

  it.effect("to keep streams open under a key that was revoked or has expired; a call under it runs to its end", () =>
    Effect.gen(function* () {
      let finish: (() => void) | undefined
      const server = yield* aServerOf("modern", (seen, response) => {
        finish = () => json(response, result(seen, text("done")))
      })
      const { url } = yield* aProvider(server.url)
      const first = yield* aConsumer()
      yield* funded(first)
      const market = `${yield* base}/mcp`
      const keys = `${yield* base}/api/v1/market/keys`
      const revoked = yield* posted(keys, {}, first)
      const streamsOf = Effect.fnUntraced(function* (key: string) {
        const { session } = yield* aClientOf("legacy", market, key)
        const headers = { ...session, authorization: `Bearer ${key}`, accept: "text/event-stream" }
        const legacy = yield* Effect.promise(() => fetch(market, { headers }))
        const params = { notifications: { toolsListChanged: true } }
        const modern = yield* opened({ url: market, key, method: "subscriptions/listen", params })
        return [eventsOf(legacy), eventsOf(modern)] as const
      })
      const [own, ofRevoked] = [yield* streamsOf(first), yield* streamsOf(String(revoked["api_key"]))]
      const soon = new Date(Date.now() + SHORT_SECONDS * 1_000).toISOString()
      const expires = yield* posted(keys, { expires_at: soon }, first)
      const ofExpired = yield* streamsOf(String(expires["api_key"]))
      const caller = yield* aClientOf("modern", url, String(revoked["api_key"]))
      const calling = yield* Effect.forkChild(caller.send("tools/call", ECHO_CALL))
      yield* eventually(() => finish !== undefined)

      const { key_id: id } = revoked["key"] as { readonly key_id: string }
      const headers = { authorization: `Bearer ${first}` }
      yield* Effect.promise(() => fetch(`${keys}/${id}`, { method: "DELETE", headers }))
      yield* eventually(() => ofRevoked.every(({ ended }) => ended))
      assert.include(ofRevoked[1].events.at(-1)!.data, "This API key was revoked.")
      yield* eventually(() => ofExpired.every(({ ended }) => ended))
      assert.include(ofExpired[1].events.at(-1)!.data, "This API key has expired.")
      assert.isAtLeast(Date.now(), Date.parse(soon))
      for (const { ended, failed } of own) assert.isFalse(ended || failed, "the account's other key goes on")

      finish!()
      assert.strictEqual(at(billingOf(yield* Fiber.join(calling)), "cost_microcents"), PRICE)
    })
  )
})

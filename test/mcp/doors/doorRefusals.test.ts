/**
 * Accounts that may not spend, at the doors of both eras: the rejection says why, lists can still be read, nothing reaches
 * the provider, and nothing is held.
 */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { json, result, text } from "../../../testing/mcp/ScriptedServer.ts"
import { HeldStripe } from "../../support/market/HeldStripe.ts"
import { posted, walletOf } from "../../support/load/LoadMarket.ts"
import { at, billingOf, textOf } from "../../support/mcp/DoorClient.ts"
import { aClientOf, aServerOf, ERAS } from "../../support/mcp/EitherEra.ts"
import {
  aConsumer,
  aDoor,
  aProvider,
  base,
  delivered,
  ECHO_CALL,
  funded,
  LOADED,
  PRICE,
  stripeService
} from "../../support/mcp/StripeDoors.ts"
import { LIVE } from "../../support/market/ServiceUnderTest.ts"

it.layer(stripeService, LIVE)("A door rejects", (it) => {
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
            /^This account is frozen.*disputed at the bank.*Add funds at https?:\/\/\S+\/developer\/funds\. Nothing was charged\./su
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
        assert.strictEqual((yield* walletOf(yield* base, key)).held, 0)

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
        assert.deepStrictEqual(yield* walletOf(yield* base, key), { balance: LOADED - PRICE, held: 0 })
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
          [{ ...cap(2 * PRICE), headers: { "x-max-cost-microcents": "0" } }, "PRICE_CHANGED"],
          [{ ...cap(0), headers: { "x-max-cost-microcents": String(PRICE) } }, "PRICE_CHANGED"],
          [{ headers: { "x-max-cost-microcents": String(PRICE - 1) } }, "PRICE_CHANGED"]
        ] as const) {
          const refused = yield* client.send("tools/call", ECHO_CALL, sending)
          assert.include(billingOf(refused) as object, { code, charged: false, retryable: false })
        }
        assert.lengthOf(server.of("tools/call"), 0)
        const paid = yield* client.send("tools/call", ECHO_CALL, cap(2 * PRICE))
        assert.strictEqual(at(billingOf(paid), "cost_microcents"), 2 * PRICE, "the provider asks for more than the cap")
        assert.deepStrictEqual(yield* walletOf(yield* base, key), { balance: LOADED - 2 * PRICE, held: 0 })
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
      assert.strictEqual((yield* walletOf(yield* base, key)).held, PRICE)
      stripe.dispute(payment, true)
      yield* delivered
      assert.strictEqual(at(billingOf(yield* continued), "cost_microcents"), PRICE)
      assert.deepStrictEqual(yield* walletOf(yield* base, key), { balance: 2 * LOADED - PRICE, held: 0 })
    })
  )
})

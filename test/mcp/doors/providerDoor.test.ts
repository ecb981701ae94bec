/**
 * Tool calls at the door of a provider's server, over HTTP, in the modern era.
 */
import { assert, it } from "@effect/vitest"
import { Effect, Schedule } from "effect"
import { event, json, result, rpcError, stream, text } from "../../../testing/mcp/ScriptedServer.ts"
import { aFundedConsumer, PRICE } from "../../support/load/LoadMarket.ts"
import { aDoor, fine, LOADED, SETTINGS } from "../../support/mcp/ADoor.ts"
import { ask, at, billingOf, errorCode, opened, textOf } from "../../support/mcp/DoorClient.ts"
import { RawHttp } from "../../support/servers/RawHttp.ts"
import { LIVE } from "../../support/market/ServiceUnderTest.ts"

it.layer(RawHttp.layer(SETTINGS), LIVE)("A provider's door", (it) => {
  it.effect("calls a tool as the proxy does, and returns the provider's result with what it cost", () =>
    Effect.gen(function* () {
      const raw = '{"content":[{"type":"text","text":"1"}],"n":12345678901234567890,"_meta":{"theirs":1.50}}'
      const { call, wallet, server } = yield* aDoor((seen, response) => {
        response
          .writeHead(200, { "content-type": "application/json" })
          .end(`{"jsonrpc":"2.0","id":${seen.id},"result":${raw}}`)
      })
      const answer = yield* call({ n: 1 })
      assert.strictEqual(answer.status, 200)
      assert.include(answer.text, '"n":12345678901234567890')
      assert.include(answer.text, '"theirs":1.50')
      assert.strictEqual(at(answer.body, "result", "resultType"), "complete")
      assert.include(billingOf(answer) as object, {
        cost_microcents: PRICE,
        remaining_balance_microcents: LOADED - PRICE,
        free_tier_remaining: null
      })
      assert.match(String(at(billingOf(answer), "receipt_id")), /^rcpt_[0-9a-f]{32}$/u)
      assert.deepStrictEqual(yield* wallet, { balance: LOADED - PRICE, held: 0 })
      assert.deepStrictEqual(server.of("tools/call")[0]!.params["arguments"], { n: 1 })
    })
  )

  it.effect("answers the same key and arguments with the same bytes, and other arguments with a conflict", () =>
    Effect.gen(function* () {
      const { call, wallet, server } = yield* aDoor(fine)
      const key = { "agent-tool-billing/idempotency_key": "once" }
      const [first, again] = [yield* call({ a: 1 }, key), yield* call({ a: 1 }, key)]
      assert.strictEqual(again.text, first.text)
      assert.strictEqual(again.headers.get("idempotent-replay"), "true")
      const other = yield* call({ a: 2 }, key)
      assert.strictEqual(at(billingOf(other), "code"), "IDEMPOTENCY_CONFLICT")
      assert.strictEqual(server.of("tools/call").length, 1)
      assert.deepStrictEqual(yield* wallet, { balance: LOADED - PRICE, held: 0 })
    })
  )

  it.effect("another account's key of the same text is another call", () =>
    Effect.gen(function* () {
      const { base, call, server, url } = yield* aDoor(fine)
      const meta = { "agent-tool-billing/idempotency_key": "shared" }
      const first = yield* call({}, meta)
      const other = yield* aFundedConsumer(base, 100)
      const params = { name: "echo", arguments: {} }
      const second = yield* ask({ url, key: other, method: "tools/call", params, meta })
      assert.notStrictEqual(at(billingOf(second), "receipt_id"), at(billingOf(first), "receipt_id"))
      assert.strictEqual(server.of("tools/call").length, 2)
    })
  )

  it.effect("rejects what the balance does not cover as a result that a model can act on", () =>
    Effect.gen(function* () {
      const { call, send, server } = yield* aDoor(fine, { cents: 0 })
      assert.strictEqual((yield* send({ method: "tools/list" })).status, 200)
      const answer = yield* call()
      assert.strictEqual(answer.status, 200)
      assert.strictEqual(at(answer.body, "result", "isError"), true)
      assert.strictEqual(at(answer.body, "result", "resultType"), "complete")
      assert.match(textOf(answer), /costs \$0\.012345 and \$0\.00 is available.*https?:\/\/\S+.*Nothing was charged/su)
      assert.include(billingOf(answer) as object, {
        code: "INSUFFICIENT_FUNDS",
        charged: false,
        retryable: false,
        price_microcents: PRICE,
        remaining_balance_microcents: 0
      })
      assert.match(String(at(billingOf(answer), "load_balance_url")), /\/api\/market\/balance\/load$/u)
      assert.strictEqual(server.of("tools/call").length, 0)
    })
  )

  it.effect("rejects a price above the caller's cap, sent in the call or as a header", () =>
    Effect.gen(function* () {
      const { call, server } = yield* aDoor(fine)
      const capped = yield* call({}, { "agent-tool-billing/max_cost_microcents": PRICE - 1 })
      assert.strictEqual(at(billingOf(capped), "code"), "PRICE_CHANGED")
      const byHeader = yield* call({}, {}, { "x-max-cost-microcents": String(PRICE - 1) })
      assert.strictEqual(at(billingOf(byHeader), "code"), "PRICE_CHANGED")
      const malformed = yield* call({}, { "agent-tool-billing/max_cost_microcents": "1" })
      assert.deepStrictEqual(errorCode(malformed), [200, -32_602])
      assert.strictEqual(server.of("tools/call").length, 0)
    })
  )

  it.effect("sends `null` for an optional argument to the provider as written, and rejects it for a required one", () =>
    Effect.gen(function* () {
      const input_schema = {
        type: "object",
        properties: {
          region: { type: "string" },
          units: { enum: ["metric", "imperial"] },
          near: { type: "object", properties: { km: { type: "number" } }, additionalProperties: false },
          days: { type: "array", items: { type: "integer" } }
        },
        required: ["region"],
        additionalProperties: false
      }
      const { base, call, key, server, url } = yield* aDoor(fine, { tool: { input_schema } })
      const given = { region: "eu", units: null, near: { km: null } }
      const sent = yield* call(given, {}, { "mcp-param-region": "eu" })
      assert.strictEqual(textOf(sent), "fine")
      const bought = yield* Effect.promise(() =>
        fetch(`${base}/api/market/proxy`, {
          method: "POST",
          headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
          body: JSON.stringify({ tool_name: "echo", provider_id: url.split("/").at(-1), arguments: given })
        })
      )
      assert.strictEqual(bought.status, 200)
      for (const { params } of server.of("tools/call")) assert.deepStrictEqual(params["arguments"], given)
      for (const wrong of [{ region: null }, { region: "eu", days: [null] }, { region: "eu", units: null, other: 1 }]) {
        const refused = yield* call(wrong, {}, wrong.region === null ? {} : { "mcp-param-region": wrong.region })
        assert.strictEqual(at(billingOf(refused), "code"), "VALIDATION_ERROR", JSON.stringify(wrong))
      }
      assert.lengthOf(server.of("tools/call"), 2)
    })
  )

  it.effect("a usage-priced tool needs a cap", () =>
    Effect.gen(function* () {
      const { call } = yield* aDoor(fine, { tool: { max_cost_microcents: PRICE * 2 } })
      assert.strictEqual(at(billingOf(yield* call()), "code"), "CAP_REQUIRED")
      const paid = yield* call({}, { "agent-tool-billing/max_cost_microcents": PRICE * 2 })
      assert.strictEqual(at(billingOf(paid), "cost_microcents"), PRICE)
    })
  )

  it.effect("passes the provider's own errors, and reports its failures without a charge", () =>
    Effect.gen(function* () {
      const broken = yield* aDoor((seen, response) => json(response, rpcError(seen, -32_602, "no such city", { a: 1 })))
      const passed = yield* broken.call()
      assert.deepStrictEqual(at(passed.body, "error"), { code: -32_602, message: "no such city", data: { a: 1 } })
      assert.strictEqual(passed.headers.get("x-market-cost"), "0")
      const down = yield* aDoor((_, response) => void response.writeHead(500).end("oops"))
      const failed = yield* down.call()
      assert.strictEqual(failed.status, 200)
      assert.strictEqual(at(failed.body, "result", "isError"), true)
      assert.include(billingOf(failed) as object, { code: "PROVIDER_ERROR", charged: false, cost_microcents: 0 })
      assert.match(textOf(failed), /Nothing was charged\. Receipt: rcpt_/u)
      assert.deepStrictEqual(yield* down.wallet, { balance: LOADED, held: 0 })
    })
  )

  it.effect("streams what the provider sends before its result, and the result as the last message", () =>
    Effect.gen(function* () {
      const { call, send } = yield* aDoor((seen, response) => {
        const token = at(seen.params, "_meta", "progressToken")
        const progress = { progressToken: token, progress: 1 }
        stream(response).write(event({ jsonrpc: "2.0", method: "notifications/progress", params: progress }))
        response.end(event(result(seen, text("done"))))
      })
      const streamed = yield* call({}, { progressToken: "mine" })
      assert.strictEqual(streamed.headers.get("content-type"), "text/event-stream")
      assert.strictEqual(streamed.headers.get("x-accel-buffering"), "no")
      assert.deepStrictEqual(at(streamed.messages[0], "params"), { progressToken: "mine", progress: 1 })
      assert.strictEqual(at(streamed.body, "id"), 1)
      assert.strictEqual(at(billingOf(streamed), "cost_microcents"), PRICE)
      const plain = yield* send({
        method: "tools/call",
        params: { name: "echo" },
        meta: { progressToken: 7 },
        headers: { accept: "application/json" }
      })
      assert.include(plain.headers.get("content-type"), "application/json")
      assert.strictEqual(textOf(plain), "done")
    })
  )

  it.effect("a caller that disconnects pays by the outcome of the call", () =>
    Effect.gen(function* () {
      let finish: (() => void) | undefined
      const { key, wallet, url } = yield* aDoor((seen, response) => {
        stream(response).write(event({ jsonrpc: "2.0", method: "notifications/message", params: { level: "info" } }))
        finish = () => response.end(event(result(seen, text("done"))))
      })
      const hangUp = new AbortController()
      const params = { name: "echo", arguments: {} }
      const response = yield* opened({ url, key, method: "tools/call", params, signal: hangUp.signal })
      assert.strictEqual(response.status, 200)
      hangUp.abort()
      yield* Effect.sleep("100 millis")
      assert.deepStrictEqual(yield* wallet, { balance: LOADED, held: PRICE })
      finish!()
      const settled = yield* Effect.repeat(wallet, { until: ({ held }) => held === 0, schedule: Schedule.spaced(20) })
      assert.deepStrictEqual(settled, { balance: LOADED - PRICE, held: 0 })
    })
  )
})

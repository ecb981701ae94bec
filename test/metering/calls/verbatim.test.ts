/**
 * The proxy forwards content unchanged, and what it adds is valid for any content.
 */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { expecting } from "../../support/market/Market.ts"
import { fine, forwarded, providing } from "../../support/metering/Provider.ts"
import { aFundedConsumer, anOffer, buy, callOf, memoryMarket, problemOf, PROXY } from "../../support/metering/Shop.ts"
import { LIVE, send } from "../../support/market/ServiceUnderTest.ts"

/** As text, so that it is not written by the code under test. */
const UNUSUAL = [
  `{"content":[],"isError":false,"_meta":{"a/b":null},"extra":true}`,
  `{"content":[{"type":"text","text":"Grüße, 世界 \\u0000 \\ud83d\\ude80 \\u2028 \\" \\\\ </script>"}]}`,
  `{"content":[],"structuredContent":{"":"","constructor":1,"toString":[],"a.b":{"c d":{}},"ключ":"значение"}}`,
  `{"content":[],"structuredContent":{"most":9007199254740991,"least":-9007199254740991,"huge":1.7976931348623157e+308,"tiny":5e-324,"third":0.1}}`,
  `{"content":[{"type":"image","data":"aGk=","mimeType":"image/png"},{"type":"resource_link","uri":"file:///x","name":"x"}]}`,
  `{"content":[],"structuredContent":${"[".repeat(60)}1${"]".repeat(60)}}`,
  `{"content":[],"structuredContent":{"list":[${Array.from({ length: 500 }, (_, n) => `{"n":${n}}`).join(",")}]}}`,
  `{"content":[],"meta":{"receipt_id":"rcpt_forged","cost_microcents":0}}`,
  `{ "content" : [\n], "structuredContent":\t{"b":1,"1":2.50,"split":9007199.254740993,"result":{"content":[]}} }`
]

const NAMES = [
  "Wëtter & Söhne",
  "天気",
  "🚀 Rockets",
  'a "quoted" name; with=signs, and <tags>',
  "100 % sure",
  "x".repeat(200)
]

it.layer(memoryMarket(), LIVE)("Through the proxy", (it) => {
  it.effect("a result is returned as the provider wrote it, byte for byte", () =>
    Effect.gen(function* () {
      let written = ""
      const server = yield* providing((seen, response) => {
        const body = `{"jsonrpc":"2.0","id":${seen.id},"result":${written}}`
        response.writeHead(200, { "content-type": "application/json" }).end(body)
      })
      const offer = yield* anOffer(server.url, { price_microcents: 1 })
      const consumer = yield* aFundedConsumer()
      for (const result of UNUSUAL) {
        written = result
        const { text } = yield* expecting(200, callOf(consumer, offer))
        const end = text.lastIndexOf(`,"meta":{"tool":`)
        assert.strictEqual(text.slice(`{"result":`.length, end), result)
      }
    })
  )

  it.effect("a number that no double holds is returned as it was written", () =>
    Effect.gen(function* () {
      const server = yield* providing((seen, response) => {
        const body = `{"jsonrpc":"2.0","id":${seen.id},"result":{"content":[],"structuredContent":{"id":12345678901234567890}}}`
        response.writeHead(200, { "content-type": "application/json" }).end(body)
      })
      const { text } = yield* expecting(200, callOf(yield* aFundedConsumer(), yield* anOffer(server.url)))
      assert.include(text, "12345678901234567890")
    })
  )

  it.effect("numbers are returned as they were written, also in an isError result and in an event stream", () =>
    Effect.gen(function* () {
      const result = `{"content":[],"isError":true,"structuredContent":[0.10000000000000000001,1E40,-0,7.0]}`
      const server = yield* providing((seen, response) => {
        const body = `data: {"jsonrpc":"2.0","id":${seen.id},"result":${result}}\n\n`
        response.writeHead(200, { "content-type": "text/event-stream" }).end(body)
      })
      const { text } = yield* expecting(200, callOf(yield* aFundedConsumer(), yield* anOffer(server.url)))
      assert.include(
        text,
        `"result":{"content":[],"isError":true,"structuredContent":[0.10000000000000000001,1E40,-0,7.0]`
      )
    })
  )

  it.effect("arguments arrive as the consumer wrote them", () =>
    Effect.gen(function* () {
      const server = yield* providing(fine)
      const offer = yield* anOffer(server.url, { price_microcents: 1 })
      const consumer = yield* aFundedConsumer()
      for (const text of [...UNUSUAL.slice(2), `{"text":"Grüße, 世界 🚀 \\" \\\\ </script>"}`]) {
        const body = `{"tool_id":"${offer.toolId}","arguments":${text}}`
        const answer = yield* send({ path: PROXY, key: consumer.key, body })
        assert.strictEqual(answer.status, 200, answer.text)
        assert.deepStrictEqual(server.of("tools/call").at(-1)!.params["arguments"], JSON.parse(text))
      }
    })
  )

  it.effect("nothing of the consumer's own is sent to the provider", () =>
    Effect.gen(function* () {
      const server = yield* providing(fine)
      const offer = yield* anOffer(server.url)
      const consumer = yield* aFundedConsumer(100, { name: "Private Person", email: "private@example.org" })
      const metadata = { purpose: "secret plans" }
      yield* expecting(200, {
        ...callOf(consumer, offer, { metadata }, "a private key"),
        headers: { cookie: "session=1", "idempotency-key": "a private key", "x-request-id": "mine" }
      })
      for (const seen of server.seen) {
        const all = JSON.stringify([seen.headers, seen.text])
        for (const secret of [
          consumer.key,
          "private@example.org",
          "Private Person",
          "session=1",
          "a private key",
          "secret plans"
        ]) {
          assert.notInclude(all, secret)
        }
      }
      const [call] = server.of("tools/call")
      assert.strictEqual(call!.headers["x-market-consumer"], consumer.id)
      assert.isUndefined(call!.headers["authorization"])
    })
  )

  it.effect("headers are valid and name the called tool, whatever the provider's name is", () =>
    Effect.gen(function* () {
      for (const providerName of NAMES) {
        for (const answerIt of [
          fine,
          (_: unknown, response: { writeHead(n: number): { end(): void } }) => response.writeHead(400).end()
        ]) {
          const server = yield* providing(answerIt)
          const offer = yield* anOffer(server.url, {}, { name: providerName })
          const { headers } = yield* buy(yield* aFundedConsumer(), offer)
          const value = headers["x-market-provider"]!
          assert.match(value, /^[\x20-\x7e]+$/u)
          assert.strictEqual(decodeURIComponent(value), providerName)
        }
      }
    })
  )

  it.effect("a body that is not JSON, too large, or of another type is not forwarded", () =>
    Effect.gen(function* () {
      const consumer = yield* aFundedConsumer()
      const post = (more: object) => Effect.map(send({ path: PROXY, key: consumer.key, ...more }), problemOf)
      assert.deepStrictEqual(yield* post({ body: "{" }), [400, "BAD_REQUEST"])
      assert.deepStrictEqual(yield* post({ body: "" }), [422, "VALIDATION_ERROR"])
      assert.deepStrictEqual(yield* post({ body: new Uint8Array(2_000_000) }), [413, "PAYLOAD_TOO_LARGE"])
      const form = { body: "tool_name=x", headers: { "content-type": "application/x-www-form-urlencoded" } }
      assert.deepStrictEqual(yield* post(form), [415, "UNSUPPORTED_MEDIA_TYPE"])
    })
  )
})

it.layer(memoryMarket({ RATE_LIMIT_RPM: "60" }), LIVE)("A consumer above its rate limit", (it) => {
  it.effect("is rejected before its tool is looked up", () =>
    Effect.gen(function* () {
      const server = yield* providing(fine)
      const offer = yield* anOffer(server.url)
      const consumer = yield* aFundedConsumer(0, { rate_limit_rpm: 2 })
      const unknown = { tool_id: consumer.id }
      assert.deepStrictEqual(problemOf(yield* buy(consumer, offer, unknown)), [404, "NOT_FOUND"])
      assert.deepStrictEqual(problemOf(yield* buy(consumer, offer, unknown)), [404, "NOT_FOUND"])
      for (const wanted of [unknown, {}]) {
        const refused = yield* buy(consumer, offer, wanted)
        assert.deepStrictEqual(problemOf(refused), [429, "RATE_LIMITED"])
        assert.strictEqual(refused.headers["x-ratelimit-limit"], "2")
        assert.strictEqual(refused.headers["x-ratelimit-remaining"], "0")
        assert.isFalse(refused.bodyWasRead)
      }
      assert.strictEqual(forwarded(server), 0)
    })
  )
})

/**
 * Many large results at once: the process buffers a bounded amount, from any provider to any consumer.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import type { ServerResponse } from "node:http"
import { ResponseBytes, type ResponseReader } from "../../adapters/mcp/client/ResponseBytes.ts"
import { at, textAt } from "../support/market/Market.ts"
import { json, result, text } from "../../testing/mcp/ScriptedServer.ts"
import { eventually } from "../support/mcp/McpClient.ts"
import { providing } from "../support/metering/Provider.ts"
import { aFundedConsumer, anOffer, buy, PRICE, walletOf } from "../support/metering/Shop.ts"
import { LIVE, ServiceUnderTest } from "../support/market/ServiceUnderTest.ts"

const MEGABYTE = 1_048_576
const HELD_BYTES_MAX = 16 * MEGABYTE

/** Starts a result of `bytes`, and ends it when it is told to. */
const slowlyLarge = (bytes: number) =>
  Effect.gen(function* () {
    const waiting: Array<() => void> = []
    let begun = 0
    let broken = 0
    const server = yield* providing((seen, response: ServerResponse) => {
      const whole = JSON.stringify({ jsonrpc: "2.0", id: seen.id, result: text("x".repeat(bytes)) })
      response.writeHead(200, { "content-type": "application/json" })
      response.write(whole.slice(0, -10))
      response.on("close", () => void (response.writableFinished || broken++))
      waiting.push(() => void (response.destroyed || response.end(whole.slice(-10))))
      begun++
    })
    return { server, begun: () => begun, broken: () => broken, end: () => waiting.splice(0).forEach((one) => one()) }
  })

const service = ServiceUnderTest.memory({
  ALLOW_UPSTREAM: "loopback",
  RATE_LIMIT_RPM: "0",
  RATE_LIMIT_IP_RPM: "0",
  ANSWER_BYTES_IN_FLIGHT_MAX: String(HELD_BYTES_MAX)
})

it.layer(service, LIVE)("large results", (it) => {
  it.effect("beyond what one provider may have in flight are 503, not charged, and pass when there is room", () =>
    Effect.gen(function* () {
      const large = yield* slowlyLarge(4 * MEGABYTE)
      // The results wait for the test, which takes long on a busy machine.
      const [greedy, buyer] = [yield* anOffer(large.server.url, { timeout_ms: 60_000 }), yield* aFundedConsumer()]
      const other = yield* anOffer(
        (yield* providing((seen, response) => json(response, result(seen, text("y".repeat(3 * MEGABYTE)))))).url
      )
      const [elsewhere, before] = [yield* aFundedConsumer(), yield* walletOf(buyer)]
      const calls = yield* Effect.forkChild(
        Effect.all(
          Array.from({ length: 24 }, () => buy(buyer, greedy)),
          { concurrency: "unbounded" }
        )
      )
      yield* eventually(() => large.begun() === 24 && large.broken() >= 22, 50_000)
      const meanwhile = yield* buy(elsewhere, other)
      assert.strictEqual(meanwhile.status, 200, meanwhile.text.slice(0, 500))
      large.end()
      const answers = yield* Fiber.join(calls)
      const delivered = answers.filter(({ status }) => status === 200)
      const refused = answers.filter(({ status }) => status === 503)
      assert.strictEqual(
        delivered.length + refused.length,
        24,
        answers
          .map(({ status, text }) => `${status} ${text.slice(0, 200)}`)
          .filter((one) => !one.startsWith("200") && !one.startsWith("503"))
          .join("; ")
      )
      assert.isAtLeast(delivered.length, 1)
      for (const answer of refused) {
        assert.deepStrictEqual([at(answer, "code"), at(answer, "cost_microcents")], ["UNAVAILABLE", 0])
        assert.strictEqual(answer.headers["retry-after"], "1")
        assert.include(textAt(answer, "message"), "no room for a response of this size")
      }
      const after = yield* walletOf(buyer)
      assert.strictEqual(before.balance - after.balance, delivered.length * PRICE)
      assert.strictEqual(after.held, 0)
      const again = yield* Effect.forkChild(buy(buyer, greedy))
      yield* eventually(() => large.begun() === 25)
      large.end()
      assert.strictEqual((yield* Fiber.join(again)).status, 200)
    })
  )
})

describe("ResponseBytes", () => {
  const reader = (provider: string, consumer: string) => {
    const made = { provider, consumer, isGivenUp: false, drop: () => void (made.isGivenUp = true) }
    return made satisfies ResponseReader
  }

  it("gives at most half of the room to one provider or consumer", () => {
    const bytes = new ResponseBytes(100)
    assert.isTrue(bytes.take(reader("p", "a"), 30))
    assert.isFalse(bytes.take(reader("p", "b"), 30))
    assert.isFalse(bytes.take(reader("q", "a"), 30))
    assert.isTrue(bytes.take(reader("q", "b"), 30))
    assert.strictEqual(bytes.bytes, 60)
  })

  it("drops a result of the largest user, never for another one of the same size", () => {
    const bytes = new ResponseBytes(100)
    const [large, small] = [
      [reader("p", "a"), reader("p", "b")],
      [reader("q", "c"), reader("r", "d")]
    ]
    for (const one of large) assert.isTrue(bytes.take(one, 25))
    for (const one of small) assert.isTrue(bytes.take(one, 25))
    const next = reader("s", "e")
    assert.isTrue(bytes.take(next, 10))
    assert.deepStrictEqual([large[0]!.isGivenUp, large[1]!.isGivenUp, small[0]!.isGivenUp], [true, false, false])
    assert.isTrue(bytes.take(next, 15))
    assert.isFalse(bytes.take(next, 10), "it holds the most itself by then")
  })

  it("drops one of many results that a consumer reads from a provider, for another consumer of it", () => {
    const bytes = new ResponseBytes(100)
    const greedy = Array.from({ length: 5 }, () => reader("p", "a"))
    for (const one of greedy) assert.isTrue(bytes.take(one, 10))
    const other = reader("p", "b")
    assert.isTrue(bytes.take(other, 10))
    assert.isTrue(bytes.take(other, 10))
    assert.strictEqual(greedy.filter(({ isGivenUp }) => isGivenUp).length, 2)
    assert.isFalse(bytes.take(other, 10), "it holds nearly as much by then")
    assert.isFalse(
      bytes.take(
        greedy.find(({ isGivenUp }) => !isGivenUp)!,
        10
      )
    )
    assert.strictEqual(bytes.bytes, 50)
    assert.isFalse(other.isGivenUp)
  })

  it("counts a result until its settlement is done, once", () => {
    const bytes = new ResponseBytes(100)
    const one = reader("p", "a")
    bytes.take(one, 40)
    const release = bytes.settling(one)!
    bytes.give(one)
    assert.strictEqual(bytes.bytes, 40)
    assert.isFalse(bytes.take(reader("p", "b"), 20))
    release()
    release()
    assert.strictEqual(bytes.bytes, 0)
    assert.isUndefined(bytes.settling(one))
  })
})

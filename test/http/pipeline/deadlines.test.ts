/**
 * A database that accepts connections but does not respond: every caller gets an answer in time, nothing is lost or
 * charged twice, and the service recovers automatically.
 */
import { assert, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Schedule } from "effect"
import { DatabaseLink } from "../../support/servers/DatabaseLink.ts"
import {
  aConsumer,
  aProvider,
  at,
  CATALOG,
  CONSUMERS,
  consumerBody,
  expecting,
  KEYS,
  textAt,
  TOOLS
} from "../../support/market/Market.ts"
import { forwarded, providing, fine, slowProvider } from "../../support/metering/Provider.ts"
import { aFundedConsumer, anOffer, callOf, PRICE, walletOf, receiptsOf } from "../../support/metering/Shop.ts"
import { PostgresTest } from "../../support/servers/PostgresTest.ts"
import { eventually } from "../../support/mcp/McpClient.ts"
import { postgresConfig, wholeService } from "../../support/market/ServiceConfig.ts"
import { type Call, LIVE, send, ServiceUnderTest } from "../../support/market/ServiceUnderTest.ts"
import type { Answer } from "../../support/checks/Answer.ts"

/** The timeout of a request: long enough for a busy machine. */
const TIMEOUT_MS = 3_000
/** A broken deadline would take forever, so tenfold is enough to see it. */
const ANSWERED_WITHIN_MS = 10 * TIMEOUT_MS
const LONGER_MS = 2 * TIMEOUT_MS

const service = ServiceUnderTest.over(
  Layer.unwrap(
    Effect.map(DatabaseLink, ({ url }) =>
      wholeService(
        postgresConfig(url, {
          REQUEST_TIMEOUT_MS: String(TIMEOUT_MS),
          ALLOW_UPSTREAM: "loopback",
          DEFAULT_FREE_TIER_CALLS: "0"
        })
      )
    )
  )
).pipe(Layer.provideMerge(DatabaseLink.layer), Layer.provideMerge(PostgresTest.layerDatabase))

const isLate = (answer: Answer, says: string): void => {
  assert.strictEqual(answer.status, 503, `${says}: ${answer.text}`)
  assert.strictEqual(at(answer, "code"), "UNAVAILABLE")
  assert.isAbove(Number(answer.headers["retry-after"]), 0)
}

const inTime = Effect.fnUntraced(function* (call: Call) {
  const startedAt = performance.now()
  const answer = yield* send(call)
  assert.isBelow(performance.now() - startedAt, ANSWERED_WITHIN_MS, call.path)
  return answer
})

const untilItWorks = (call: Call) =>
  Effect.repeat(send(call), {
    until: ({ status }) => status < 400,
    schedule: Schedule.spaced("100 millis")
  }).pipe(
    Effect.timeoutOrElse({
      duration: "60 seconds",
      orElse: () => Effect.die(new Error(`${call.path} never came back`))
    })
  )

it.layer(service, LIVE)("while the database does not respond", (it) => {
  it.effect("every request is answered at its timeout, and says how to go on", () =>
    Effect.gen(function* () {
      const link = yield* DatabaseLink
      const [provider, consumer] = [yield* aProvider(), yield* aConsumer()]
      for (const { key } of [provider, consumer]) yield* expecting(200, { path: KEYS, key })
      yield* link.freeze
      const reads: ReadonlyArray<Call> = [
        { path: `${CATALOG}?q=nobody%20asked%20before` },
        { path: KEYS, key: consumer.key },
        { path: "/api/v1/market/balance", key: consumer.key }
      ]
      const writes: ReadonlyArray<Call> = [
        { path: CONSUMERS, json: consumerBody() },
        { path: KEYS, key: consumer.key, json: {}, headers: { "idempotency-key": "while it was silent" } },
        { path: TOOLS, key: provider.key, json: { tools: [{ tool_name: "x" }] } }
      ]
      for (const [calls, advice] of [
        [reads, "Try again"],
        [writes, "same Idempotency-Key"]
      ] as const) {
        for (const answer of yield* Effect.forEach(calls, inTime, { concurrency: "unbounded" })) {
          isLate(answer, advice)
          assert.include(textAt(answer, "message"), advice)
        }
      }
      // Many concurrent requests wait for connections that are never released: they time out too.
      const crowd = yield* Effect.all(
        Array.from({ length: 100 }, (_, n) => inTime({ path: `${CATALOG}?q=crowd%20${n}` })),
        { concurrency: "unbounded" }
      )
      for (const answer of crowd) isLate(answer, "one of a crowd")
      yield* expecting(200, { path: "/api/market" })
      yield* link.restore
      yield* untilItWorks({ path: KEYS, key: consumer.key })
      yield* untilItWorks(writes[1]!)
      const again = yield* expecting(201, writes[1]!)
      assert.strictEqual(again.headers["idempotent-replay"], "true", "it was done once")
    })
  )

  it.effect("a client that sends its body slowly is not cut by the deadline", () =>
    Effect.gen(function* () {
      const waiting = yield* Effect.forkChild(send({ path: CONSUMERS, body: "endless" }))
      yield* Effect.sleep(LONGER_MS)
      assert.isUndefined(waiting.pollUnsafe())
      yield* Fiber.interrupt(waiting)
    })
  )
})

it.layer(service, LIVE)("a call whose settlement the database does not confirm", (it) => {
  it.effect("times out for its caller, is settled afterwards, and its key returns the response, charged once", () =>
    Effect.gen(function* () {
      const link = yield* DatabaseLink
      const slow = yield* slowProvider()
      const [consumer, offer] = [yield* aFundedConsumer(), yield* anOffer(slow.server.url)]
      const keyed = callOf(consumer, offer, {}, "the one call")
      const calling = yield* Effect.forkChild(send(keyed))
      yield* eventually(() => forwarded(slow.server) === 1)
      // The provider may take longer: the request's deadline does not apply to it.
      yield* Effect.sleep(LONGER_MS)
      assert.isUndefined(calling.pollUnsafe())
      yield* link.freeze
      yield* slow.answer
      const startedAt = performance.now()
      const late = yield* Fiber.join(calling)
      assert.isBelow(performance.now() - startedAt, ANSWERED_WITHIN_MS)
      isLate(late, "the call")
      for (const word of ["settled", "same Idempotency-Key", "nothing is charged twice"]) {
        assert.include(textAt(late, "message"), word)
      }
      yield* link.restore
      const again = yield* untilItWorks(keyed)
      assert.strictEqual(again.headers["idempotent-replay"], "true")
      assert.strictEqual(forwarded(slow.server), 1)
      assert.deepStrictEqual(yield* walletOf(consumer), {
        balance: 1_000_000 - PRICE,
        held: 0,
        available: 1_000_000 - PRICE
      })
      assert.lengthOf(yield* receiptsOf(consumer), 1)
    })
  )

  it.effect("or whose hold it does not confirm is not forwarded after its caller's timeout, and costs nothing", () =>
    Effect.gen(function* () {
      const link = yield* DatabaseLink
      const server = yield* providing(fine)
      const [consumer, offer] = [yield* aFundedConsumer(), yield* anOffer(server.url)]
      yield* expecting(200, callOf(consumer, offer))
      yield* link.freeze
      isLate(yield* inTime(callOf(consumer, offer)), "the call")
      yield* link.restore
      const before = 1_000_000 - PRICE
      yield* Effect.repeat(receiptsOf(consumer), {
        until: (receipts) => receipts.length === 2,
        schedule: Schedule.spaced("100 millis")
      }).pipe(Effect.timeout("50 seconds"))
      const [abandoned] = yield* receiptsOf(consumer)
      assert.deepStrictEqual([abandoned?.status, abandoned?.cost_microcents], ["error", 0])
      assert.deepStrictEqual(yield* walletOf(consumer), { balance: before, held: 0, available: before })
      assert.strictEqual(forwarded(server), 1)
    })
  )
})

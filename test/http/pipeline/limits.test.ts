/**
 * Rate limits by address, by key, and for registrations; and which forwarded-for headers are trusted.
 */
import { assert, it } from "@effect/vitest"
import { Duration, Effect } from "effect"
import { TestClock } from "effect/testing"
import {
  aConsumer,
  aProvider,
  at,
  CATALOG,
  CONSUMERS,
  consumerBody,
  expecting,
  KEYS,
  PROVIDERS,
  providerBody,
  textAt
} from "../../support/market/Market.ts"
import { type Call, send, ServiceUnderTest } from "../../support/market/ServiceUnderTest.ts"
import type { Answer } from "../../support/checks/Answer.ts"

const INDEX = "/api/market"
const WHOAMI = "/api/v1/market/whoami"

const limitsOf = ({ headers }: Answer) =>
  ["limit", "remaining", "reset"].map((name) => {
    const value = headers[`x-ratelimit-${name}`]
    return value === undefined ? undefined : Number(value)
  })

/** Sends `count` requests, which must pass, and one more, which must not. */
const exhaust = Effect.fnUntraced(function* (call: Call, count: number) {
  for (let n = 1; n <= count; n++) assert.notStrictEqual((yield* send(call)).status, 429, `${n} of ${count}`)
  return yield* expecting(429, call)
})

const from = (address: string, headers: Readonly<Record<string, string>> = {}): Call => ({
  path: INDEX,
  from: address,
  headers
})

it.layer(ServiceUnderTest.memory({ RATE_LIMIT_IP_RPM: "6" }))("the rate limit of an address", (it) => {
  it.effect("is stated in every response, and Retry-After in a rejection", () =>
    Effect.gen(function* () {
      const call = from("198.51.100.1")
      for (let left = 5; left >= 0; left--) {
        const [limit, remaining, reset] = limitsOf(yield* expecting(200, call))
        assert.deepStrictEqual([limit, remaining], [6, left])
        assert.strictEqual(reset, (6 - left) * 10)
      }
      const refused = yield* expecting(429, call)
      assert.strictEqual(at(refused, "code"), "RATE_LIMITED")
      assert.strictEqual(refused.headers["retry-after"], "10")
      assert.strictEqual(at(refused, "retry_after_seconds"), 10)
      assert.deepStrictEqual(limitsOf(refused), [6, 0, 60])
    })
  )

  it.effect("is separate for each address", () =>
    Effect.gen(function* () {
      yield* exhaust(from("198.51.100.2"), 6)
      yield* expecting(200, from("198.51.100.3"))
      yield* expecting(429, from("198.51.100.2"))
    })
  )

  it.effect("recovers with time, as stated", () =>
    Effect.gen(function* () {
      const call = from("198.51.100.4")
      const seconds = Number((yield* exhaust(call, 6)).headers["retry-after"])
      yield* TestClock.adjust(Duration.millis(seconds * 1_000 - 1))
      yield* expecting(429, call)
      yield* TestClock.adjust("1 milli")
      yield* expecting(200, call)
      yield* expecting(429, call)
      yield* TestClock.adjust("1 minute")
      yield* exhaust(call, 6)
    })
  )

  it.effect("counts rejected requests, too, and rejects before it reads a body", () =>
    Effect.gen(function* () {
      yield* exhaust({ path: KEYS, key: "guessed", from: "198.51.100.5" }, 6)
      const answer = yield* expecting(429, { path: CONSUMERS, body: "endless", from: "198.51.100.5" })
      assert.isFalse(answer.bodyWasRead)
    })
  )

  it.effect("counts requests without a route, too", () =>
    Effect.gen(function* () {
      const calls: ReadonlyArray<readonly [status: number, call: Call]> = [
        [404, { path: "/nothing" }],
        [405, { method: "PUT", path: CATALOG }],
        [405, { path: "/api/v1/verify" }],
        [204, { method: "OPTIONS", path: CATALOG }]
      ]
      for (const [n, [status, call]] of calls.entries()) {
        const address = `198.51.100.2${n}`
        for (let left = 5; left >= 0; left--) {
          const [limit, remaining] = limitsOf(yield* expecting(status, { ...call, from: address }))
          assert.deepStrictEqual([limit, remaining], [6, left], `${status}`)
        }
        const refused = yield* expecting(429, { ...call, from: address })
        assert.strictEqual(refused.headers["retry-after"], "10")
        yield* expecting(429, from(address))
      }
    })
  )

  it.effect("ignores a forwarded-for header of an untrusted client", () =>
    Effect.gen(function* () {
      const names = ["x-forwarded-for", "forwarded", "x-real-ip", "cf-connecting-ip", "true-client-ip", "x-client-ip"]
      for (const [n, name] of names.entries()) {
        const call = from("198.51.100.6", { [name]: `203.0.113.${n}` })
        assert.deepStrictEqual(limitsOf(yield* expecting(200, call)).slice(0, 2), [6, 5 - n], name)
      }
      yield* expecting(429, from("198.51.100.6", { "x-forwarded-for": "203.0.113.99" }))
    })
  )
})

it.layer(ServiceUnderTest.memory({ RATE_LIMIT_IP_RPM: "2", TRUST_PROXY: "10.0.0.0/8, ::1, 192.0.2.7" }))(
  "a forwarded-for header",
  (it) => {
    it.effect("is trusted from a configured proxy, and from no other client", () =>
      Effect.gen(function* () {
        for (const proxy of ["10.1.2.3", "::1", "192.0.2.7", "::ffff:10.9.9.9"]) {
          const client = `203.0.113.${proxy.length}`
          yield* exhaust(from(proxy, { "x-forwarded-for": client }), 2)
          yield* expecting(200, from(proxy, { "x-forwarded-for": `${client}0` }))
          yield* expecting(429, from(client))
        }
        for (const stranger of ["11.0.0.1", "192.0.2.8", "::2"]) {
          yield* exhaust(from(stranger, { "x-forwarded-for": "203.0.113.200" }), 2)
          yield* expecting(429, from(stranger, { "x-forwarded-for": "203.0.113.201" }))
        }
        yield* expecting(200, from("203.0.113.200"))
      })
    )

    it.effect("is read from the right, to the first address that is not a trusted proxy", () =>
      Effect.gen(function* () {
        const through = (forwarded: string) => from("10.0.0.1", { "x-forwarded-for": forwarded })
        yield* exhaust(through("1.1.1.1, 203.0.113.50"), 2)
        yield* expecting(429, through("2.2.2.2, 203.0.113.50"))
        yield* expecting(429, through("2.2.2.2,203.0.113.50 , 10.0.0.9,192.0.2.7"))
        yield* expecting(429, from("203.0.113.50"))
        yield* expecting(200, from("1.1.1.1"))
      })
    )

    it.effect("that is malformed counts as the proxy itself", () =>
      Effect.gen(function* () {
        const made = ["unknown", "", "300.1.1.1", "_hidden", "<script>", "203.0.113.60:1234", "x".repeat(10_000)]
        for (const [n, forwarded] of made.entries()) {
          const proxy = `10.77.0.${n}`
          yield* exhaust(from(proxy, { "x-forwarded-for": forwarded }), 2)
          yield* expecting(429, from(proxy))
        }
      })
    )

    it.effect("counts an IPv6 network as one client: its owner may use any address in it", () =>
      Effect.gen(function* () {
        yield* expecting(200, from("2001:db8:5:6::1"))
        yield* expecting(200, from("2001:db8:5:6:ffff::2"))
        yield* expecting(429, from("2001:db8:5:6:7:8:9:a"))
        yield* expecting(200, from("2001:db8:5:7::1"))
      })
    )

    it.effect("names one client in whatever way its address is written", () =>
      Effect.gen(function* () {
        const through = (forwarded: string) => from("10.0.0.1", { "x-forwarded-for": forwarded })
        yield* expecting(200, through("2001:db8::1"))
        yield* expecting(200, through("2001:0DB8:0:0::0001"))
        yield* expecting(429, through("2001:db8:0:0:0:0:0:1"))
        yield* expecting(200, through("203.0.113.70"))
        yield* expecting(200, through("::ffff:203.0.113.70"))
        yield* expecting(429, from("203.0.113.70"))
      })
    )
  }
)

it.layer(ServiceUnderTest.memory({ RATE_LIMIT_RPM: "4" }))("the rate limit of a key", (it) => {
  it.effect(
    "does not count a console's reads, which have a limit of their own; writes and streams of MCP doors count",
    () =>
      Effect.gen(function* () {
        const { key } = yield* aConsumer({ rate_limit_rpm: 3 })
        const read: Call = { path: WHOAMI, key, headers: { "x-console": "1" } }
        const refused = yield* exhaust(read, 240)
        assert.deepStrictEqual(limitsOf(refused).slice(0, 2), [240, 0])
        const write: Call = { path: KEYS, key, json: {}, headers: { "x-console": "1" } }
        assert.deepStrictEqual(limitsOf(yield* send(write)).slice(0, 2), [3, 2])
        const stream: Call = { method: "GET", path: "/mcp", key, headers: { "x-console": "1" } }
        assert.deepStrictEqual(limitsOf(yield* send(stream)).slice(0, 2), [3, 1])
        yield* exhaust({ path: WHOAMI, key }, 1)
      })
  )

  it.effect("is what the consumer was granted, from any address", () =>
    Effect.gen(function* () {
      for (const [asked, granted] of [
        [undefined, 4],
        [2, 2],
        [9, 9]
      ] as const) {
        const { key } = yield* aConsumer({ rate_limit_rpm: asked })
        const answer = yield* exhaust({ path: WHOAMI, key, from: "198.51.100.1" }, granted)
        assert.deepStrictEqual(limitsOf(answer).slice(0, 2), [granted, 0])
        assert.isAbove(Number(answer.headers["retry-after"]), 0)
        yield* expecting(429, { path: WHOAMI, key, from: "198.51.100.2" })
      }
    })
  )

  it.effect("is shared by all keys of an account, and by no other account", () =>
    Effect.gen(function* () {
      const { key } = yield* aConsumer({ rate_limit_rpm: 3 })
      const other = textAt(yield* expecting(201, { path: KEYS, key, json: {} }), "api_key")
      yield* expecting(200, { path: WHOAMI, key: other })
      yield* expecting(200, { path: WHOAMI, key })
      for (const each of [key, other]) yield* expecting(429, { path: WHOAMI, key: each })
      yield* expecting(200, { path: WHOAMI, key: (yield* aConsumer()).key })
      yield* expecting(200, { path: CATALOG })
    })
  )

  it.effect("rejects before the body is read, and recovers with time", () =>
    Effect.gen(function* () {
      const { key } = yield* aConsumer({ rate_limit_rpm: 1 })
      yield* expecting(200, { path: WHOAMI, key })
      assert.isFalse((yield* expecting(429, { path: KEYS, key, body: "endless" })).bodyWasRead)
      yield* TestClock.adjust("1 minute")
      yield* expecting(200, { path: WHOAMI, key })
    })
  )

  it.effect("of a provider is six hundred a minute", () =>
    Effect.gen(function* () {
      const { key } = yield* aProvider()
      assert.strictEqual(at(yield* expecting(200, { path: WHOAMI, key }), "rate_limit_rpm"), 600)
      yield* exhaust({ path: WHOAMI, key }, 599)
    })
  )
})

it.layer(ServiceUnderTest.memory({ RATE_LIMIT_REGISTER_RPM: "3" }))("the rate limit of registrations", (it) => {
  it.effect("belongs to an address, counts both roles, and leaves other limits alone", () =>
    Effect.gen(function* () {
      const address = { from: "198.51.100.1" }
      const consumer = { path: CONSUMERS, json: consumerBody(), ...address }
      const provider = { path: PROVIDERS, json: providerBody(), ...address }
      for (const call of [consumer, provider, consumer]) yield* expecting(201, call)
      for (const call of [consumer, provider]) {
        const answer = yield* expecting(429, { ...call, json: undefined, body: "endless" })
        assert.isFalse(answer.bodyWasRead)
        assert.deepStrictEqual(limitsOf(answer).slice(0, 2), [3, 0])
      }
      yield* expecting(200, { path: CONSUMERS, ...address })
      yield* expecting(200, { path: CATALOG, ...address })
      yield* expecting(201, { ...consumer, from: "198.51.100.2" })
      yield* TestClock.adjust("20 seconds")
      yield* expecting(201, consumer)
      yield* expecting(429, consumer)
    })
  )

  it.effect("is one for all addresses of an IPv6 network", () =>
    Effect.gen(function* () {
      const from = (address: string) => ({ path: CONSUMERS, json: consumerBody(), from: address })
      for (const address of ["2001:db8:5:8::1", "2001:db8:5:8::2", "2001:db8:5:8:ffff::3"]) {
        yield* expecting(201, from(address))
      }
      yield* expecting(429, from("2001:db8:5:8::4"))
      yield* expecting(201, from("2001:db8:5:9::1"))
    })
  )

  it.effect("is not consumed by invalid bodies, but they do not allow more registrations", () =>
    exhaust({ path: CONSUMERS, json: {}, from: "198.51.100.9" }, 3)
  )
})

it.layer(ServiceUnderTest.memory())("rate limits that are disabled", (it) => {
  it.effect("reject nothing and send no headers", () =>
    Effect.gen(function* () {
      const { key } = yield* aConsumer({ rate_limit_rpm: 1 })
      for (let n = 0; n < 50; n++) {
        yield* expecting(200, { path: INDEX })
        const answer = yield* expecting(200, { path: WHOAMI, key })
        assert.deepStrictEqual(limitsOf(answer), [undefined, undefined, undefined])
      }
    })
  )
})

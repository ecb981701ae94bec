/**
 * Endpoints that the address guard rejects: at registration, and at a call of a tool that was registered earlier.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import { publicAndLoopback, publicOnly } from "../../../adapters/mcp/egress/AddressGuard.ts"
import { registeredEndpoints, type Resolve } from "../../../adapters/mcp/egress/GuardedEgress.ts"
import { AccountStore } from "../../../domain/accounts/Account.ts"
import { ProviderId } from "../../../domain/shared/Ids.ts"
import { aProvider, at, expecting, faultPaths, PROVIDERS, textAt } from "../../support/market/Market.ts"
import { LIVE, send } from "../../support/market/ServiceUnderTest.ts"
import { memoryCore } from "../../support/metering/Core.ts"
import { fine, providing } from "../../support/metering/Provider.ts"
import {
  aFundedConsumer,
  buy,
  memoryMarket,
  offerOf,
  problemOf,
  receiptsOf,
  walletOf
} from "../../support/metering/Shop.ts"

const BLOCKED = [
  "http://10.1.2.3:8080/mcp",
  "http://169.254.169.254/latest/meta-data/",
  "http://[::ffff:192.168.0.1]/mcp",
  "http://[fd00::1]/mcp",
  "http://2130706433.0.0.0/mcp",
  "http://0/mcp",
  "http://0x0a.1.2.3/mcp",
  "http://[64:ff9b::a00:1]/mcp"
]

it.layer(memoryMarket(), LIVE)("A provider", (it) => {
  it.effect("whose endpoint is in a blocked network is not registered, and gets the reason", () =>
    Effect.gen(function* () {
      const stats = Effect.map(expecting(200, { path: "/api/v1/stats" }), (answer) => at(answer, "totals", "providers"))
      const before = yield* stats
      for (const endpoint_url of BLOCKED) {
        if (URL.parse(endpoint_url) === null) continue
        const json = { name: "Insider", email: "insider@example.org", endpoint_url, tools: [{ tool_name: "peek" }] }
        for (const headers of [{}, { "idempotency-key": endpoint_url.slice(7) }]) {
          const answer = yield* send({ path: PROVIDERS, json, headers })
          assert.deepStrictEqual(problemOf(answer), [422, "BLOCKED_ENDPOINT"], endpoint_url)
          assert.deepStrictEqual(faultPaths(answer), ["endpoint_url"])
          assert.isUndefined(at(answer, "api_key"))
        }
      }
      assert.strictEqual(yield* stats, before)
      yield* aProvider({ endpoint_url: "http://127.0.0.1:9/mcp" })
      // The name may resolve later; the address is checked at each call.
      yield* aProvider({ endpoint_url: "http://tools.invalid/mcp" })
    })
  )
})

it.layer(memoryCore, LIVE)("A call", (it) => {
  it.effect("of an endpoint in a private network is rejected and costs nothing, under any policy", () =>
    Effect.gen(function* () {
      const server = yield* providing(fine)
      for (const billing_policy of ["success", "attempt"]) {
        const provider = yield* aProvider({ endpoint_url: server.url })
        const offer = yield* offerOf(provider, { billing_policy })
        const accounts = yield* AccountStore
        const stored = Option.getOrThrow(yield* accounts.findProvider(ProviderId.make(provider.id)))
        yield* accounts.updateProvider({ ...stored, endpointUrl: "http://10.1.2.3:8080/mcp" })
        const consumer = yield* aFundedConsumer()
        const answer = yield* buy(consumer, offer)
        assert.deepStrictEqual(problemOf(answer), [422, "BLOCKED_ENDPOINT"])
        assert.deepStrictEqual([at(answer, "attempts"), at(answer, "cost_microcents")], [0, 0])
        assert.strictEqual((yield* walletOf(consumer)).balance, 1_000_000)
        const [receipt] = yield* receiptsOf(consumer)
        assert.include(receipt, { receipt_id: textAt(answer, "receipt_id") as never, status: "error" })
      }
    })
  )
})

describe("The guard of registered endpoints", () => {
  const resolving =
    (...addresses: ReadonlyArray<string>): Resolve =>
    (_, done) =>
      done(
        null,
        addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }))
      )
  const outcome = (resolve: Resolve, url = "https://tools.example.org/mcp", policy = publicOnly) =>
    Effect.map(
      Effect.exit(registeredEndpoints({ policy, resolve, connectTimeoutMs: 50 }).check(url)),
      ({ _tag }) => _tag
    )

  it.live("rejects a name that resolves to a blocked address, as a call would", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* outcome(resolving("203.0.113.1", "8.8.8.8")), "Failure")
      assert.strictEqual(yield* outcome(resolving("8.8.8.8", "10.0.0.1")), "Failure")
      assert.strictEqual(yield* outcome(resolving("127.0.0.1")), "Failure")
      assert.strictEqual(yield* outcome(resolving("127.0.0.1"), "http://localhost/", publicAndLoopback), "Success")
      assert.strictEqual(yield* outcome(resolving("8.8.8.8", "2606:4700::1111")), "Success")
    })
  )

  it.live("accepts a name without an address, and one whose name server does not respond", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* outcome((_, done) => done(new Error("ENOTFOUND"), [])), "Success")
      assert.strictEqual(yield* outcome(resolving()), "Success")
      assert.strictEqual(yield* outcome(() => {}), "Success")
    })
  )

  it.live("looks up at most two names at once: slow name servers occupy no more threads", () =>
    Effect.gen(function* () {
      const waiting: Array<string> = []
      const answers: Array<() => void> = []
      const resolve: Resolve = (hostname, done) => {
        waiting.push(hostname)
        answers.push(() => done(null, [{ address: "10.0.0.1", family: 4 }]))
      }
      const guard = registeredEndpoints({ policy: publicOnly, resolve, connectTimeoutMs: 20 })
      const asked = ["a", "b", "c", "d"].map((name) => Effect.exit(guard.check(`https://${name}.example.org/`)))
      const exits = yield* Effect.all(asked, { concurrency: "unbounded" })
      assert.deepStrictEqual([waiting.length, exits.map(({ _tag }) => _tag)], [2, Array(4).fill("Success")])
      for (const answer of answers.splice(0)) answer()
      yield* Effect.exit(guard.check("https://e.example.org/"))
      assert.strictEqual(waiting.length, 3)
    })
  )
})

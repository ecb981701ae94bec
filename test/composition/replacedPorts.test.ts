/**
 * Ports that an embedder gives to `service`: every part uses them, and the types refuse the others.
 */
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer, Logger, Redacted } from "effect"
import { RateLimiter } from "effect/persistence"
import * as NodeDigest from "../../adapters/crypto/NodeDigest.ts"
import * as NodeEntropy from "../../adapters/crypto/NodeEntropy.ts"
import { Dispatcher } from "../../adapters/http/pipeline/Dispatcher.ts"
import { OperatorKey } from "../../domain/accounts/Authentication.ts"
import { Catalog } from "../../domain/catalog/Catalog.ts"
import { LedgerStore } from "../../domain/ledger/LedgerStore.ts"
import { LogHome } from "../../domain/log/Sequencer.ts"
import { ToolboxToolsMax } from "../../domain/mcp/Toolbox.ts"
import { CheckoutReturn } from "../../domain/payments/Loads.ts"
import { WaitlistStore } from "../../domain/platform/Submissions.ts"
import { ReceiptSigner } from "../../domain/receipts/Receipts.ts"
import { ToolUpstream } from "../../domain/upstream/ToolUpstream.ts"
import { Fatal } from "../../src/layers/Process.ts"
import { memoryStores } from "../../src/layers/MemoryStores.ts"
import { serviceOf } from "../../src/layers/Service.ts"
import { aConsumer, aProvider, expecting, putTools, valueAt } from "../support/market/Market.ts"
import { memoryConfig, postgresConfig } from "../support/market/ServiceConfig.ts"
import { LIVE, ServiceUnderTest } from "../support/market/ServiceUnderTest.ts"

const shouting = Layer.succeed(ToolUpstream, {
  call: ({ arguments: given }) =>
    Effect.succeed({
      status: "success",
      result: { content: [{ type: "text", text: String(given["text"]).toUpperCase() }] },
      problem: undefined,
      attempts: 1,
      latencyMs: 1,
      requestBytes: 0,
      responseBytes: 0
    })
})

const signed = Layer.succeed(ReceiptSigner, {
  sign: () => Effect.succeed("5".repeat(64)),
  verify: () => Effect.succeed(true)
})

const alone = <A, E>(market: Layer.Layer<A, E, Fatal>) =>
  market.pipe(Layer.provide([Fatal.layer, Logger.layer([])]), Layer.orDie)

it.layer(ServiceUnderTest.over(alone(serviceOf(memoryConfig(), Layer.merge(shouting, signed)))), LIVE)(
  "a service with ports of its embedder",
  (it) => {
    it.effect("calls the embedder's tools and signs with the embedder's signer", () =>
      Effect.gen(function* () {
        const [buyer, provider] = [yield* aConsumer(), yield* aProvider()]
        yield* putTools(provider, { tool_name: "shout", price_microcents: 500, free_tier_calls: 0 })
        yield* expecting(200, { path: "/api/market/balance/load", key: buyer.key, json: { amount_cents: 500 } })
        const answer = yield* expecting(200, {
          path: "/api/market/proxy",
          key: buyer.key,
          json: { tool_name: "shout", input: { text: "hello" } }
        })
        assert.strictEqual(valueAt(answer.json, "result", "content", 0, "text"), "HELLO")
        const id = String(valueAt(answer.json, "meta", "receipt_id"))
        const kept = yield* expecting(200, { path: `/api/v1/market/receipts/${id}`, key: buyer.key })
        assert.strictEqual(valueAt(kept.json, "receipt", "signature"), "5".repeat(64))
      })
    )
  }
)

describe("ports given to a service", () => {
  it.effect("replace adapters, which are then not built", () =>
    Effect.gen(function* () {
      const unreachable = postgresConfig(Redacted.make("postgres://nobody@127.0.0.1:1/none"))
      const { dispatch } = yield* Effect.map(
        Layer.build(alone(serviceOf(unreachable, memoryStores))),
        Context.get(Dispatcher)
      )
      const request = { method: "GET", path: "/readyz", query: "", headers: {}, remoteAddress: "192.0.2.1" }
      const { status } = yield* dispatch({ ...request, body: () => Effect.succeed(new Uint8Array()) })
      assert.strictEqual(status, 200)
    })
  )

  it.effect("are rejected with a sentence where Layer.provide would ignore them", () =>
    Effect.gen(function* () {
      const market = serviceOf(memoryConfig()).pipe(
        Layer.provide([shouting, Layer.mock(LedgerStore, {}), Fatal.layer, Logger.layer([])])
      )
      assert.strictEqual(
        (yield* Effect.flip(Effect.scoped(Layer.build(market)))).message,
        "ToolUpstream, LedgerStore: provided to service() with Layer.provide, which has no effect, because service() " +
          "provides its own. Pass a layer of ports as the second argument: service(options, ports)."
      )
      // A port that wraps another one of the same kind.
      const wrapping = Layer.effect(ToolUpstream, ToolUpstream)
      yield* Effect.scoped(Layer.build(alone(serviceOf(memoryConfig(), wrapping).pipe(Layer.provide(shouting)))))
    })
  )

  it.effect("are also rejected where they are ports without an adapter, or settings", () =>
    Effect.gen(function* () {
      const ignored = (around: Layer.Layer<never>) =>
        Effect.map(
          Effect.flip(
            Effect.scoped(
              Layer.build(
                serviceOf(memoryConfig()).pipe(Layer.provide([Fatal.layer, Logger.layer([])]), Layer.provide(around))
              )
            )
          ),
          ({ message }) => message.slice(0, message.indexOf(":"))
        )
      const key = Layer.succeed(OperatorKey, Redacted.make("the key of the operator"))
      assert.deepStrictEqual(
        yield* Effect.forEach(
          [
            NodeDigest.layer,
            NodeEntropy.layer,
            Layer.succeed(LogHome, "log.example"),
            Layer.succeed(CheckoutReturn, { successUrl: "https://a.example", cancelUrl: "https://a.example" }),
            RateLimiter.layer.pipe(Layer.provide(RateLimiter.layerStoreMemory)),
            key,
            Layer.succeed(ToolboxToolsMax, 1)
          ],
          ignored
        ),
        ["Digest", "Entropy", "LogHome", "CheckoutReturn", "RateLimiter", "OperatorKey", "ToolboxToolsMax"]
      )
      // With the value that the service has anyway.
      const same = Layer.succeed(ToolboxToolsMax, yield* ToolboxToolsMax)
      yield* Effect.scoped(Layer.build(alone(serviceOf(memoryConfig()).pipe(Layer.provide(same)))))
      // As a port, it closes the operator endpoints.
      const { dispatch } = yield* Effect.map(
        Layer.build(alone(serviceOf(memoryConfig(), key))),
        Context.get(Dispatcher)
      )
      const { status } = yield* dispatch({
        method: "POST",
        path: "/api/v1/init",
        query: "",
        headers: {},
        remoteAddress: "192.0.2.1",
        body: () => Effect.succeed(new Uint8Array())
      })
      assert.strictEqual(status, 401)
    })
  )

  it("may be any of the replaceable ones, and no others", () => {
    const config = memoryConfig()
    const compiled = [
      serviceOf(config),
      serviceOf(config, Layer.empty),
      serviceOf(config, Layer.mock(WaitlistStore, {})),
      serviceOf(config, Layer.merge(shouting, signed)),
      // A whole group of stores.
      serviceOf(config, memoryStores)
    ]
    const rejected = [
      // @ts-expect-error A store that shares its data with others.
      serviceOf(config, Layer.mock(LedgerStore, {})),
      // @ts-expect-error Also beside a port that can be replaced.
      serviceOf(config, Layer.merge(shouting, Layer.mock(LedgerStore, {}))),
      // @ts-expect-error A service of the core is no port.
      serviceOf(config, Layer.mock(Catalog, {})),
      // @ts-expect-error Neither is what the service provides.
      serviceOf(config, Layer.mock(Dispatcher, {}))
    ]
    assert.deepStrictEqual([compiled.length, rejected.length], [5, 4])
  })
})

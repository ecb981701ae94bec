/**
 * Several markets in one process share nothing that was not given to both.
 */
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Exit, Fiber, Layer, Logger, Scope } from "effect"
import { Dispatcher } from "../../adapters/http/pipeline/Dispatcher.ts"
import { CallTally } from "../../domain/metering/CallsInFlight.ts"
import { Loads } from "../../domain/payments/Loads.ts"
import { DiskWatch } from "../../domain/platform/Health.ts"
import { ProcessTelemetry } from "../../domain/shared/Telemetry.ts"
import { ToolUpstream } from "../../domain/upstream/ToolUpstream.ts"
import type { Source } from "../../src/config/AppConfig.ts"
import { core } from "../../src/layers/Core.ts"
import { Fatal } from "../../src/layers/Process.ts"
import { memoryPorts } from "../../src/layers/MemoryPorts.ts"
import { serviceOf } from "../../src/layers/Service.ts"
import { at } from "../support/market/Market.ts"
import { memoryConfig, wholeService } from "../support/market/ServiceConfig.ts"
import { ServiceUnderTest } from "../support/market/ServiceUnderTest.ts"
import { eventually } from "../support/mcp/McpClient.ts"
import { forwarded, slowProvider } from "../support/metering/Provider.ts"
import { aFundedConsumer, anOffer, buy, PRICE, walletOf } from "../support/metering/Shop.ts"

const market = core.pipe(Layer.provide(Layer.mock(ToolUpstream, {})), Layer.provide(memoryPorts))

const textOf = (body: string | Uint8Array): string => (typeof body === "string" ? body : new TextDecoder().decode(body))

const aService = (settings: Source) =>
  serviceOf(memoryConfig(settings)).pipe(Layer.provide([Fatal.layer, Logger.layer([])]), Layer.orDie)

/** Two dispatchers in one program. */
class East extends Context.Service<East, Dispatcher["Service"]>()("test/East") {}
class West extends Context.Service<West, Dispatcher["Service"]>()("test/West") {}

const asked = ({ dispatch }: Dispatcher["Service"], path: string, json?: unknown) =>
  dispatch({
    method: json === undefined ? "GET" : "POST",
    path,
    query: "",
    headers: { "content-type": "application/json" },
    remoteAddress: "192.0.2.1",
    body: () => Effect.succeed(new TextEncoder().encode(json === undefined ? "" : JSON.stringify(json)))
  })
const OPEN = memoryConfig({ ALLOW_UPSTREAM: "loopback", PAYMENTS: "dry_run", DEFAULT_FREE_TIER_CALLS: "0" })

describe("markets of one process", () => {
  for (const first of ["east", "west"] as const) {
    it.live(`are two services for two values, whose settings and data are apart (${first} is built first)`, () =>
      Effect.gen(function* () {
        const east = Layer.effect(East, Dispatcher).pipe(Layer.provide(aService({ BASE_URL: "https://a.example" })))
        const west = Layer.effect(West, Dispatcher).pipe(
          Layer.provide(aService({ BASE_URL: "https://b.example/billing" }))
        )
        const both = first === "east" ? Layer.provideMerge(west, east) : Layer.provideMerge(east, west)
        const context = yield* Layer.build(both)
        const [one, other] = [Context.get(context, East), Context.get(context, West)]
        assert.notStrictEqual(one, other)
        const baseUrlOf = (dispatcher: Dispatcher["Service"]) =>
          Effect.map(asked(dispatcher, "/api/market"), ({ body }) => JSON.parse(textOf(body)).base_url as string)
        assert.deepStrictEqual(
          [yield* baseUrlOf(one), yield* baseUrlOf(other)],
          ["https://a.example", "https://b.example/billing"]
        )
        const order = { name: "An agent", email: "a@example.org" }
        const { status } = yield* asked(one, "/api/market/register-consumer", order)
        assert.strictEqual(status, 201)
        const consumersOf = (dispatcher: Dispatcher["Service"]) =>
          Effect.map(
            asked(dispatcher, "/api/v1/stats"),
            ({ body }) => JSON.parse(textOf(body)).totals.consumers as number
          )
        assert.deepStrictEqual([yield* consumersOf(one), yield* consumersOf(other)], [1, 0])
      })
    )
  }

  it.live("are one service for one value, however often it is provided", () =>
    Effect.gen(function* () {
      const market = aService({})
      const context = yield* Layer.build(
        Layer.merge(
          Layer.effect(East, Dispatcher).pipe(Layer.provide(market)),
          Layer.effect(West, Dispatcher).pipe(Layer.provide(market))
        )
      )
      assert.strictEqual(Context.get(context, East), Context.get(context, West))
    })
  )

  it.effect("count their own calls", () =>
    Effect.gen(function* () {
      const [one, other] = [yield* Layer.build(Layer.fresh(market)), yield* Layer.build(Layer.fresh(market))]
      Context.get(one, CallTally).count("proxy", "success")
      const successes = (context: Context.Context<CallTally>) =>
        Context.get(context, CallTally)
          .read()
          .find(({ origin, status }) => origin === "proxy" && status === "success")?.calls
      assert.deepStrictEqual([successes(one), successes(other)], [1, 0])
      assert.notStrictEqual(Context.get(one, Loads), Context.get(other, Loads))
    })
  )

  it.effect("leave nothing behind in the process", () =>
    Effect.gen(function* () {
      const [disk, { exports }] = [yield* DiskWatch, yield* ProcessTelemetry]
      disk.rejected(1)
      exports.count("logs", "sent")
      assert.strictEqual(disk.rejectedAtMs, Number.NEGATIVE_INFINITY)
      assert.isTrue(exports.read().every(({ batches }) => batches === 0))
    })
  )

  it.live("end their requests with their scope", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const context = yield* Layer.buildWithScope(wholeService(memoryConfig()), scope)
      const request = yield* Effect.forkChild(
        Context.get(context, Dispatcher).dispatch({
          method: "POST",
          path: "/api/market/register-consumer",
          query: "",
          headers: { "content-type": "application/json" },
          remoteAddress: "192.0.2.1",
          // A client that is still sending.
          body: () => Effect.never
        }),
        { startImmediately: true }
      )
      assert.isUndefined(request.pollUnsafe())
      yield* Scope.close(scope, Exit.void)
      const { status } = yield* Fiber.join(request)
      assert.strictEqual(status, 503)
    })
  )

  it.live.each([{ on_cancel: "finish" }, { on_cancel: "pass" }])(
    "let a paid call finish when their scope closes: $on_cancel",
    (terms) =>
      Effect.gen(function* () {
        const scope = yield* Scope.make()
        const slow = yield* slowProvider()
        const context = yield* Layer.buildWithScope(wholeService(OPEN), scope)
        yield* Effect.gen(function* () {
          const offer = yield* anOffer(slow.server.url, terms)
          const consumer = yield* aFundedConsumer()
          const calling = yield* Effect.forkChild(buy(consumer, offer))
          yield* eventually(() => forwarded(slow.server) === 1)
          const closing = yield* Effect.forkChild(Scope.close(scope, Exit.void), { startImmediately: true })
          assert.isUndefined(calling.pollUnsafe())
          yield* slow.answer
          const answer = yield* Fiber.join(calling)
          assert.strictEqual(answer.status, 200, answer.text)
          assert.strictEqual(at(answer, "meta", "cost_microcents"), PRICE)
          yield* Fiber.join(closing)
        }).pipe(Effect.provide(ServiceUnderTest.over(Layer.succeedContext(context))))
      }).pipe(Effect.scoped)
  )

  it.live("do not bill a restart as a cancellation by the caller", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const slow = yield* slowProvider()
      const context = yield* Layer.buildWithScope(wholeService(OPEN), scope)
      yield* Effect.gen(function* () {
        const offer = yield* anOffer(slow.server.url, { on_cancel: "pass" })
        const consumer = yield* aFundedConsumer()
        const calling = yield* Effect.forkChild(buy(consumer, offer))
        yield* eventually(() => forwarded(slow.server) === 1)
        yield* Scope.close(scope, Exit.void)
        yield* Fiber.await(calling)
        assert.deepStrictEqual(yield* walletOf(consumer), { balance: 1_000_000, held: 0, available: 1_000_000 })
      }).pipe(Effect.provide(ServiceUnderTest.over(Layer.succeedContext(context))))
    }).pipe(Effect.scoped)
  )
})

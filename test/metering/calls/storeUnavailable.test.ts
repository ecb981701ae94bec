/**
 * Calls and reports while the call store is unavailable: the outcome is unknown, so nothing is released or answered from
 * what the store holds.
 */
import { assert, it } from "@effect/vitest"
import { Context, DateTime, Effect, Layer } from "effect"
import { CallStore } from "../../../domain/metering/CallStore.ts"
import { MeterKeyStore, type MeterRequest } from "../../../domain/metering/DirectMetering.ts"
import { Grants } from "../../../domain/metering/Grants.ts"
import { Metering } from "../../../domain/metering/Metering.ts"
import { Sweeper } from "../../../domain/metering/Sweeper.ts"
import { ConsumerId, ProviderId, ToolId } from "../../../domain/shared/Ids.ts"
import { StoreUnavailable } from "../../../domain/shared/StoreUnavailable.ts"
import { money } from "../../contracts/ledgerSamples.ts"
import { expecting } from "../../support/market/Market.ts"
import { LIVE } from "../../support/market/ServiceUnderTest.ts"
import { memoryCore } from "../../support/metering/Core.ts"
import { aFundedConsumer, anOffer, books, GRANTS, walletOf } from "../../support/metering/Shop.ts"
import { later } from "../../support/metering/TestTime.ts"

const COST = 5_000
const KEY = { keyHash: "ab".repeat(32), requestHash: "cd".repeat(32) }
const tool = (toolId: string) => ({ toolId: ToolId.make(toolId), toolName: undefined, providerId: undefined })
const rendered = () => ({ status: 200, headers: {}, body: "" })

const away = Effect.suspend(() => new StoreUnavailable({ reason: "unreachable", cause: new Error("cut") }))

/** The store does its work, and its answer is lost. */
const losing = (calls: CallStore["Service"], method: "open" | "close") =>
  Layer.succeed(
    CallStore,
    method === "open"
      ? { ...calls, open: (call) => Effect.andThen(calls.open(call), away) }
      : { ...calls, close: (call) => Effect.andThen(calls.close(call), away) }
  )

it.layer(memoryCore, LIVE)("While the call store is unavailable", (it) => {
  it.effect("a call with a key fails, and is not told that another call with its key is in flight", () =>
    Effect.gen(function* () {
      const calls = yield* CallStore
      const { call } = yield* Effect.map(
        Layer.build(Layer.fresh(Metering.layer).pipe(Layer.provide(losing(calls, "open")))),
        Context.get(Metering)
      )
      const buyer = yield* aFundedConsumer()
      const { toolId } = yield* anOffer("http://127.0.0.1:9/mcp")
      const request = {
        consumerId: ConsumerId.make(buyer.id),
        tool: tool(toolId),
        arguments: {},
        maxCost: undefined,
        idempotency: KEY
      }
      assert.strictEqual((yield* Effect.flip(call(request, rendered)))._tag, "StoreUnavailable")
      assert.strictEqual((yield* calls.earlier(request.consumerId, KEY))?._tag, "InFlight")
      yield* later("10 minutes")((yield* Sweeper).sweep)
      assert.strictEqual((yield* walletOf(buyer)).balance, 1_000_000)
      yield* books
    })
  )

  it.effect("a report whose settlement is unconfirmed stays counted against the grant, and its key stays bound", () =>
    Effect.gen(function* () {
      const calls = yield* CallStore
      const { record } = yield* Effect.map(
        Layer.build(Layer.fresh(Metering.layer).pipe(Layer.provide(losing(calls, "close")))),
        Context.get(Metering)
      )
      const [buyer, other] = [yield* aFundedConsumer(), yield* aFundedConsumer()]
      const offer = yield* anOffer("http://127.0.0.1:9/mcp")
      const providerId = ProviderId.make(offer.provider.id)
      const consumerId = ConsumerId.make(buyer.id)
      yield* expecting(201, {
        path: GRANTS,
        key: buyer.key,
        json: { provider_id: providerId, cap_microcents: 100_000 }
      })
      const request = {
        caller: { role: "provider", ownerId: providerId } as MeterRequest["caller"],
        tool: { ...tool(offer.toolId), providerId },
        consumerId,
        status: "success" as const,
        durationMs: 1,
        tokensInput: 0,
        tokensOutput: 0,
        cost: money(COST),
        calledAt: undefined,
        idempotency: KEY
      }
      assert.strictEqual((yield* Effect.flip(record(request, rendered)))._tag, "StoreUnavailable")
      const spent = Effect.map((yield* Grants).list(consumerId), ([grant]) => Number(grant!.spent))
      assert.strictEqual(yield* spent, COST)
      const keys = yield* MeterKeyStore
      const rebound = { providerId, keyHash: KEY.keyHash, consumerId: ConsumerId.make(other.id) }
      assert.isFalse(yield* keys.bind(rebound, yield* DateTime.now))
      yield* later("10 minutes")((yield* Sweeper).sweep)
      assert.strictEqual(yield* spent, COST)
      assert.strictEqual((yield* walletOf(buyer)).balance, 1_000_000 - COST)
      yield* books
    })
  )
})

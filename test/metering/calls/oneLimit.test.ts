/**
 * Calls of the REST API and of MCP clients share what bounds them: one limit of an account, and one wait of a shutdown.
 */
import { assert, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { Metering } from "../../../domain/metering/Metering.ts"
import { eventually } from "../../support/mcp/McpClient.ts"
import { render } from "../../support/metering/McpExchanges.ts"
import {
  aConsumer,
  callMcp,
  completed,
  memoryMcpMarket,
  Provider,
  rejectedFor,
  requestOf,
  tools
} from "../../support/metering/McpMarket.ts"

const LIMIT = 2

const provider = new Provider()
const market = memoryMcpMarket(provider, LIMIT)

it.layer(market, { timeout: "120 seconds", excludeTestServices: true })("Calls over REST and over MCP", (it) => {
  it.effect("count toward one limit of their account, and a shutdown waits for both", () =>
    Effect.gen(function* () {
      const metering = yield* Metering
      const respond = yield* Deferred.make<void>()
      provider.respond = () => Effect.as(Deferred.await(respond), completed())
      const { tools: made } = yield* tools()
      const consumerId = yield* aConsumer()
      const request = requestOf(consumerId, made[0]!.id)
      const { exchange: _, ...overRest } = request

      const rest = yield* Effect.forkChild(metering.call(overRest, render))
      const mcp = yield* Effect.forkChild(callMcp(request))
      yield* eventually(() => provider.calls.length === LIMIT)
      assert.strictEqual((yield* Effect.flip(metering.call(overRest, render)))._tag, "TooManyCallsInFlight")
      assert.strictEqual(yield* rejectedFor(request), "TooManyCallsInFlight")

      const idle = yield* Effect.forkChild(metering.idle, { startImmediately: true })
      assert.isUndefined(idle.pollUnsafe())
      yield* Deferred.succeed(respond, undefined)
      assert.strictEqual((yield* Fiber.join(rest))._tag, "Settled")
      assert.strictEqual((yield* Fiber.join(mcp))._tag, "Settled")
      yield* Fiber.join(idle)
    })
  )
})

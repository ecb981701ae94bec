/**
 * Several markets in one process share nothing that was not given to both.
 */
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Exit, Fiber, Layer, Scope } from "effect"
import { Dispatcher } from "../../adapters/http/pipeline/Dispatcher.ts"
import { CallTally } from "../../domain/metering/CallTally.ts"
import { ToolUpstream } from "../../domain/metering/ToolUpstream.ts"
import { MismatchTally } from "../../domain/payments/MismatchTally.ts"
import { DiskWatch } from "../../domain/platform/DiskWatch.ts"
import { TelemetryTally } from "../../domain/platform/TelemetryTally.ts"
import { core } from "../../src/layers/Core.ts"
import { memoryPorts } from "../../src/layers/MemoryPorts.ts"
import { memoryConfig, wholeService } from "../support/ServiceConfig.ts"

const market = core.pipe(Layer.provide(Layer.mock(ToolUpstream, {})), Layer.provide(memoryPorts))

describe("markets of one process", () => {
  it.effect("count their own calls", () =>
    Effect.gen(function* () {
      const [one, other] = [yield* Layer.build(Layer.fresh(market)), yield* Layer.build(Layer.fresh(market))]
      Context.get(one, CallTally).count("proxy", "success")
      Context.get(one, MismatchTally).count()
      const successes = (context: Context.Context<never>) =>
        Context.get(context, CallTally)
          .read()
          .find(({ origin, status }) => origin === "proxy" && status === "success")?.calls
      assert.deepStrictEqual([successes(one), successes(other)], [1, 0])
      assert.deepStrictEqual(
        [Context.get(one, MismatchTally).mismatched, Context.get(other, MismatchTally).mismatched],
        [1, 0]
      )
    })
  )

  it.effect("leave nothing behind in the process", () =>
    Effect.gen(function* () {
      const [calls, mismatches, disk, telemetry] = [
        yield* CallTally,
        yield* MismatchTally,
        yield* DiskWatch,
        yield* TelemetryTally
      ]
      calls.count("proxy", "success")
      calls.left()
      calls.took("hold", 5)
      mismatches.count()
      disk.rejected(1)
      telemetry.count("logs", "sent")
      assert.isTrue(calls.read().every((one) => one.calls === 0))
      assert.isTrue(calls.steps().every(({ durations }) => durations.count === 0))
      assert.strictEqual(calls.leftCount, 0)
      assert.strictEqual(mismatches.mismatched, 0)
      assert.strictEqual(disk.rejectedAtMs, Number.NEGATIVE_INFINITY)
      assert.isTrue(telemetry.read().every(({ batches }) => batches === 0))
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
})

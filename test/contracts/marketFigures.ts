import { assert, it } from "@effect/vitest"
import { Effect, type Layer } from "effect"
import { MarketFigures } from "../../domain/catalog/MarketFigures.ts"
import { aToolId, consumerWith } from "./ledgerSamples.ts"
import type { MeteringPorts } from "./meteringPorts.ts"
import { aListedTool, called } from "./meteringSamples.ts"
import { aProvider } from "./samples.ts"

export const marketFiguresContract = (name: string, ports: Layer.Layer<MeteringPorts>) => {
  const market = () => it.layer(ports, { timeout: "60 seconds", excludeTestServices: true })

  market()(`MarketFigures over ${name}, of an empty market`, (it) => {
    it.effect("are zeros, and say nothing where there is nothing to say", () =>
      Effect.gen(function* () {
        assert.deepStrictEqual(yield* (yield* MarketFigures).totals, {
          invocations: 0,
          successful: 0,
          uniqueAgents: 0,
          uniqueTools: 0,
          revenueMicrocents: 0n,
          avgLatencyMs: undefined,
          freeCalls: 0,
          lastInvocation: undefined
        })
      })
    )
  })

  market()(`MarketFigures over ${name}, of a market`, (it) => {
    it.effect("count every call, and every agent and tool once", () =>
      Effect.gen(function* () {
        const figures = yield* MarketFigures
        const [one, other] = [yield* consumerWith(10_000), yield* consumerWith(10_000)]
        const provider = yield* aProvider()
        const [a, b] = [yield* aListedTool(provider, "a"), yield* aListedTool(provider, "b")]
        const never = yield* aListedTool(provider, "never called")
        yield* called(one, a, "2026-11-20T10:00:00.000Z")
        yield* called(one, a, "2026-11-20T12:00:00.000Z", { cost: 0, status: "error" })
        yield* called(one, a, "2026-11-20T12:00:00.000Z", { cost: 500 })
        yield* called(other, b, "2026-11-20T13:00:00.000Z", { cost: 0 }, { freeTierCalls: 1 })
        // Reported later than it was called: the last one is the one that came last.
        yield* called(other, b, "2026-11-20T11:00:00.000Z")
        assert.deepStrictEqual(yield* figures.totals, {
          invocations: 5,
          successful: 4,
          uniqueAgents: 2,
          uniqueTools: 2,
          revenueMicrocents: 2_500n,
          avgLatencyMs: 123,
          freeCalls: 1,
          lastInvocation: "2026-11-20T11:00:00.000Z"
        })

        const ofTools = yield* figures.ofTools([a.toolId, b.toolId, never.toolId, yield* aToolId])
        assert.deepStrictEqual(
          ofTools,
          new Map([
            [a.toolId, { totalCalls: 3, avgLatencyMs: 123, uptimePct: 66.67 }],
            [b.toolId, { totalCalls: 2, avgLatencyMs: 123, uptimePct: 100 }]
          ])
        )
        assert.deepStrictEqual([...(yield* figures.ofTools([b.toolId])).keys()], [b.toolId])
        assert.strictEqual((yield* figures.ofTools([])).size, 0)
      })
    )
  })
}

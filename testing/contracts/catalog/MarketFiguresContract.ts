/**
 * What MarketFigures must do, with the accounts, tools and calls that they count. These rules need stores of their own, on
 * which they run in this order.
 */
import { Effect } from "effect"
import assert from "node:assert/strict"
import { AccountStore } from "../../../domain/accounts/Account.ts"
import { type CatalogStore, MarketFigures, type MarketTotals } from "../../../domain/catalog/CatalogStore.ts"
import { ConsumerId } from "../../../domain/shared/Ids.ts"
import { aConsumer, aProvider } from "../shared/AccountSamples.ts"
import { aToolId, type Books } from "../shared/CallSamples.ts"
import type { Contract } from "../shared/Contract.ts"
import { aConsumerId, atOnce, consumerWith, ledgerRule } from "../shared/LedgerSamples.ts"
import { aListedTool, called } from "../shared/ToolSamples.ts"

const AT = "2026-11-20T10:00:00.000Z"
const LATER = "2026-11-21T10:00:00.000Z"

const movedFields = ({ freeCalls, invocations, lastInvocation, uniqueAgents, uniqueTools }: MarketTotals) => ({
  freeCalls,
  invocations,
  lastInvocation,
  uniqueAgents,
  uniqueTools
})

export const marketFiguresContract: Contract<MarketFigures | AccountStore | CatalogStore | Books> = [
  ledgerRule(
    "are zero or absent without calls",
    Effect.gen(function* () {
      assert.deepEqual(yield* (yield* MarketFigures).totals, {
        invocations: 0,
        successful: 0,
        successPct: undefined,
        reported: 0,
        uniqueAgents: 0,
        uniqueTools: 0,
        revenueMicrocents: 0n,
        avgLatencyMs: undefined,
        freeCalls: 0,
        lastInvocation: undefined
      })
    })
  ),

  ledgerRule(
    "count every proxied call, and each consumer and tool once",
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
      // Settled last, although another call started later.
      yield* called(other, b, "2026-11-20T11:00:00.000Z")
      assert.deepEqual(yield* figures.totals, {
        invocations: 5,
        successful: 4,
        successPct: 80,
        reported: 0,
        uniqueAgents: 2,
        uniqueTools: 2,
        revenueMicrocents: 2_500n,
        avgLatencyMs: 123,
        freeCalls: 1,
        lastInvocation: "2026-11-20T13:00:00.000Z"
      })

      const ofTools = yield* figures.ofTools([a.toolId, b.toolId, never.toolId, yield* aToolId])
      assert.deepEqual(
        ofTools,
        new Map([
          [a.toolId, { totalCalls: 3, reportedCalls: 0, avgLatencyMs: 123, uptimePct: 66.67 }],
          [b.toolId, { totalCalls: 2, reportedCalls: 0, avgLatencyMs: 123, uptimePct: 100 }]
        ])
      )
      assert.deepEqual([...(yield* figures.ofTools([b.toolId])).keys()], [b.toolId])
      assert.equal((yield* figures.ofTools([])).size, 0)
    })
  ),

  ledgerRule(
    "bill reported calls, and exclude them from rates",
    Effect.gen(function* () {
      const figures = yield* MarketFigures
      const consumer = yield* consumerWith(10_000)
      const provider = yield* aProvider()
      const [tool, reportedOnly] = [yield* aListedTool(provider, "a"), yield* aListedTool(provider, "b")]
      const before = yield* figures.totals
      yield* called(consumer, tool, AT)
      const reported = { origin: "meter" } as const
      yield* called(consumer, tool, AT, { cost: 700 }, reported)
      for (let n = 0; n < 3; n++) yield* called(consumer, tool, AT, { cost: 0, status: "error" }, reported)
      yield* called(consumer, reportedOnly, AT, { cost: 0, status: "error" }, reported)
      const totals = yield* figures.totals
      assert.deepEqual(
        [
          totals.invocations - before.invocations,
          totals.successful - before.successful,
          totals.reported - before.reported,
          totals.revenueMicrocents - before.revenueMicrocents
        ],
        [1, 1, 5, 1_700n]
      )
      assert.deepEqual(
        yield* figures.ofTools([tool.toolId, reportedOnly.toolId]),
        new Map([
          [tool.toolId, { totalCalls: 1, reportedCalls: 4, avgLatencyMs: 123, uptimePct: 100 }],
          [reportedOnly.toolId, { totalCalls: 0, reportedCalls: 1, avgLatencyMs: undefined, uptimePct: undefined }]
        ])
      )
    })
  ),

  ledgerRule(
    "count consumers, tools, free calls and the newest call of proxied calls only",
    Effect.gen(function* () {
      const figures = yield* MarketFigures
      const provider = yield* aProvider()
      const [tool, reportedOnly] = [yield* aListedTool(provider, "a"), yield* aListedTool(provider, "b")]
      const [consumer, reporting] = [yield* consumerWith(10_000), yield* consumerWith(10_000)]
      const tier = { freeTierCalls: 3 }
      yield* called(consumer, tool, AT, { cost: 0 }, tier)
      const before = movedFields(yield* figures.totals)
      for (const one of [consumer, reporting]) {
        yield* called(one, tool, LATER, { cost: 0 }, { ...tier, origin: "meter" })
        yield* called(one, reportedOnly, LATER, { cost: 0 }, { ...tier, origin: "meter" })
      }
      assert.deepEqual(movedFields(yield* figures.totals), before)
      yield* called(reporting, tool, AT, { cost: 0 }, tier)
      yield* called(reporting, tool, AT, { cost: 0, usesFreeCall: false }, tier)
      yield* called(reporting, tool, AT, { cost: 0, status: "error" }, tier)
      // Two of the thirteen are used, one of them by a reported call.
      yield* atOnce(12, () => called(reporting, tool, AT, { cost: 0 }, { freeTierCalls: 13 }))
      assert.deepEqual(movedFields(yield* figures.totals), {
        ...before,
        invocations: before.invocations + 15,
        uniqueAgents: before.uniqueAgents + 1,
        freeCalls: before.freeCalls + 12
      })
    })
  ),

  ledgerRule(
    "exclude a provider's own calls and passed-on cancellations",
    Effect.gen(function* () {
      const figures = yield* MarketFigures
      const provider = yield* aProvider()
      const twin = { ...(yield* aConsumer()), id: yield* aConsumerId, email: provider.email.toUpperCase() }
      yield* (yield* AccountStore).insertConsumer(twin)
      const tool = yield* aListedTool(provider, "a")
      const honest = yield* consumerWith(10_000)
      const before = yield* figures.totals
      yield* called(honest, tool, AT, { cost: 0, status: "timeout" })
      yield* called(honest, tool, AT, { cost: 0, status: "error", cause: "canceled" })
      for (const own of [twin.id, ConsumerId.make(provider.id)]) {
        yield* called(own, tool, LATER, { cost: 0 }, { freeTierCalls: 1 })
      }
      assert.deepEqual(movedFields(yield* figures.totals), {
        ...movedFields(before),
        invocations: before.invocations + 1,
        uniqueAgents: before.uniqueAgents + 1,
        uniqueTools: before.uniqueTools + 1
      })
      assert.deepEqual((yield* figures.ofTools([tool.toolId])).get(tool.toolId), {
        totalCalls: 1,
        reportedCalls: 0,
        avgLatencyMs: 123,
        uptimePct: 0
      })
    })
  ),

  ledgerRule(
    "exclude rejected input up to 5% of the calls, and count the rest as errors",
    Effect.gen(function* () {
      const figures = yield* MarketFigures
      const consumer = yield* consumerWith(100_000)
      const tool = yield* aListedTool(yield* aProvider(), "a")
      const rejected = { cost: 0, status: "error", cause: "input_rejected" } as const
      const uptime = Effect.map(figures.ofTools([tool.toolId]), (all) => all.get(tool.toolId)?.uptimePct)
      for (let n = 0; n < 19; n++) yield* called(consumer, tool, AT)
      yield* called(consumer, tool, AT, rejected)
      assert.equal(yield* uptime, 100)
      for (let n = 0; n < 20; n++) yield* called(consumer, tool, AT, rejected)
      // 2 of 40 are excluded: 19 of 38 succeeded.
      assert.equal(yield* uptime, 50)
    })
  )
]

/**
 * Scores of an embedder's own observations follow the rules of the published score.
 */
import { assert, describe, it } from "@effect/vitest"
import { randomUUID } from "node:crypto"
import { ConsumerId, ProviderId, ReceiptId, ToolId } from "../../domain/shared/Ids.ts"
import { Microcents, MICROCENTS_PER_DOLLAR, zero } from "../../domain/shared/Microcents.ts"
import { addedDays, countedCallsOf, paidDaysOf } from "../../domain/trust/PaidCalls.ts"
import { type ObservedCall, scoreTraffic } from "../../domain/trust/TrustScore.ts"

const DOLLAR = Microcents.make(MICROCENTS_PER_DOLLAR)

const calls = (count: number, changes: Partial<ObservedCall> = {}): ReadonlyArray<ObservedCall> =>
  Array.from({ length: count }, () => ({
    consumer: "ada",
    outcome: "success" as const,
    latencyMs: 120,
    cost: DOLLAR,
    ...changes
  }))

const level = "domain" as const
const three = ["ada", "bob", "eve"].flatMap((consumer) => calls(100, { consumer }))

describe("the score of your own traffic", () => {
  it("has the components, the badge and the advice of the published formula", () => {
    const { advice, evidence, trust } = scoreTraffic({ level, calls: three })
    assert.deepStrictEqual(trust, {
      score: 89,
      badge: "verified",
      components: { verification: 20, uptime: 22, latency: 22, disputes: 25 },
      confidence: 0.75
    })
    assert.deepStrictEqual(evidence, {
      level,
      calls: 300,
      consumers: 3,
      successRate: 1,
      p95Ms: 200,
      disputes: { upheld: 0, denied: 0 }
    })
    assert.include(advice.uptime, "300 calls count for 75%")
  })

  it("is unrated without calls", () => {
    const { evidence, trust } = scoreTraffic({ level: "unverified", calls: [] })
    assert.strictEqual(trust.badge, "unrated")
    assert.deepInclude(evidence, { calls: 0, successRate: undefined, p95Ms: undefined })
  })

  it("counts a consumer once its calls cost a dollar", () => {
    const cheap = Microcents.make(MICROCENTS_PER_DOLLAR / 10n)
    assert.strictEqual(scoreTraffic({ level, calls: calls(9, { cost: cheap }) }).evidence.consumers, 0)
    assert.strictEqual(scoreTraffic({ level, calls: calls(10, { cost: cheap }) }).evidence.consumers, 1)
    assert.strictEqual(scoreTraffic({ level, calls: calls(1_000, { cost: zero }) }).evidence.calls, 0)
  })

  it("counts failures, except rejected input up to 5%", () => {
    const failed = (outcome: ObservedCall["outcome"]) => [...calls(90), ...calls(10, { outcome, cost: zero })]
    for (const outcome of ["error", "timeout", "rate_limited"] as const) {
      assert.closeTo(scoreTraffic({ level, calls: failed(outcome) }).evidence.successRate!, 0.9, 1e-12)
    }
    const rejected = calls(5, { outcome: "error", cost: zero, inputRejected: true })
    assert.strictEqual(scoreTraffic({ level, calls: [...calls(95), ...rejected] }).evidence.successRate, 1)
  })

  it("counts disputes about calls with a cost, and refunds upheld ones", () => {
    const disputed = [
      ...calls(97),
      ...calls(2, { dispute: "upheld" }),
      ...calls(1, { dispute: "denied" }),
      ...calls(1, { dispute: "upheld", cost: zero })
    ]
    const { evidence, trust } = scoreTraffic({ level, calls: disputed })
    assert.deepStrictEqual(evidence.disputes, { upheld: 2, denied: 1 })
    assert.strictEqual(evidence.calls, 98)
    assert.strictEqual(trust.components.disputes, 15)
  })

  it("is that of the same calls as receipts of this service, over any number of days", () => {
    const consumers = { ada: ConsumerId.make(randomUUID()), bob: ConsumerId.make(randomUUID()) }
    const providerId = ProviderId.make(randomUUID())
    const outcomes = ["success", "success", "success", "error", "timeout", "rate_limited"] as const
    const observed = Array.from({ length: 240 }, (_, n): ObservedCall & { readonly consumer: "ada" | "bob" } => {
      const outcome = outcomes[n % outcomes.length]!
      const inputRejected = outcome === "error" && n % 4 === 3
      const cost = Microcents.make(outcome === "success" ? BigInt(30_000 + n * 100) : 0n)
      return { consumer: n % 3 === 0 ? "ada" : "bob", outcome, latencyMs: n * 20, cost, inputRejected }
    })
    const metered = observed.map(({ consumer, cost, inputRejected, latencyMs, outcome }, n) => ({
      receipt: {
        receipt_id: ReceiptId.make(`rcpt_${String(n).padStart(32, "0")}`),
        tool_id: ToolId.make("01900000-0000-7000-8000-000000000001"),
        tool_name: "search",
        agent_id: consumers[consumer],
        provider_id: providerId,
        timestamp: `2026-11-${String(1 + (n % 28)).padStart(2, "0")}T10:00:00.000Z`,
        duration_ms: latencyMs,
        cost_microcents: cost,
        status: outcome,
        signature: "0".repeat(64),
        created_at: "2026-11-29T00:00:00.000Z"
      },
      cause: inputRejected === true ? ("input_rejected" as const) : undefined
    }))
    const byConsumer = Map.groupBy(paidDaysOf(metered), ({ consumerId }) => consumerId)
    const pairs = [...byConsumer.values()].map((days) => days.reduce((one, other) => addedDays(one, other)))
    const { evidence } = scoreTraffic({ level, calls: observed })
    assert.deepStrictEqual(evidence, { level, ...countedCallsOf(pairs, []), disputes: { upheld: 0, denied: 0 } })
    assert.isAbove(evidence.calls, 100)
  })

  it("does not depend on the order of the calls", () => {
    const mixed = [...three, ...calls(7, { consumer: "bob", outcome: "error", cost: zero, latencyMs: 9_000 })]
    assert.deepStrictEqual(scoreTraffic({ level, calls: mixed.toReversed() }), scoreTraffic({ level, calls: mixed }))
  })
})

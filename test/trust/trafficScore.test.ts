/**
 * Scores of an embedder's own observations follow the rules of the published score.
 */
import { assert, describe, it } from "@effect/vitest"
import { MICROCENTS_PER_DOLLAR, Microcents, zero } from "../../domain/shared/Microcents.ts"
import { type ObservedCall, scoreTraffic } from "../../domain/trust/TrafficScore.ts"

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

  it("does not depend on the order of the calls", () => {
    const mixed = [...three, ...calls(7, { consumer: "bob", outcome: "error", cost: zero, latencyMs: 9_000 })]
    assert.deepStrictEqual(scoreTraffic({ level, calls: mixed.toReversed() }), scoreTraffic({ level, calls: mixed }))
  })
})

/**
 * What a provider is told to do raises its score, and it is told nothing where nothing can.
 */
import { assert, describe, it } from "@effect/vitest"
import { adviceOf } from "../../domain/trust/TrustAdvice.ts"
import { type TrustEvidence, trustOf } from "../../domain/trust/TrustScore.ts"

const NO_DISPUTES = { upheld: 0, denied: 0 }
const BEST: TrustEvidence = {
  level: "code",
  calls: 1_000_000,
  consumers: 50,
  successRate: 1,
  p95Ms: 100,
  disputes: NO_DISPUTES
}
const pointsOf = (changes: Partial<TrustEvidence>) => trustOf({ ...BEST, ...changes }).components
const adviceFor = (changes: Partial<TrustEvidence>) => adviceOf({ ...BEST, ...changes })

describe("what would raise a score", () => {
  it("is nothing at its best", () => {
    assert.deepStrictEqual(Object.values(adviceOf(BEST)), [undefined, undefined, undefined, undefined, undefined])
  })

  it.each([0, 0.5, 0.8999, 0.9, 0.97, 0.985, 0.992, 0.9951, 0.99899])(
    "is the next step of a success rate of %s, worth what it says",
    (successRate) => {
      const [, percent, points] = /from ([\d.]+)% it is worth (\d+)\./u.exec(adviceFor({ successRate }).uptime!)!
      assert.strictEqual(pointsOf({ successRate: Number(percent) / 100 }).uptime, Number(points))
      assert.isAbove(Number(points), pointsOf({ successRate }).uptime)
    }
  )

  it.each([201, 501, 999, 1_500, 4_999, 60_000])("is the next step of %s ms, worth what it says", (p95Ms) => {
    const [, most, points] = /up to (\d+) ms it is worth (\d+)\./u.exec(adviceFor({ p95Ms }).latency!)!
    assert.strictEqual(pointsOf({ p95Ms: Number(most) }).latency, Number(points))
    assert.isAbove(Number(points), pointsOf({ p95Ms }).latency)
  })

  it("is more calls, where all of them are good", () => {
    assert.include(adviceFor({ calls: 50 }).uptime, "50 calls count for 33%")
    assert.include(adviceFor({ calls: 1 }).latency, "1 call counts for 0%")
    assert.include(adviceFor({ calls: 0, successRate: undefined }).uptime, "Not enough calls yet")
  })

  it("is a proof that counts for more", () => {
    assert.match(adviceFor({ level: "unverified" }).verification!, /mailbox \(10\).*domain \(20\).*repository \(25\)/u)
    assert.notInclude(adviceFor({ level: "domain" }).verification, "mailbox")
  })

  it("is to contest, while disputes count, and which share is worth more", () => {
    const disputes = { ...NO_DISPUTES, upheld: 30 }
    const [, percent, points] = /Below ([\d.]+)% of calls it is worth (\d+)/u.exec(
      adviceFor({ calls: 1_000, disputes }).disputes!
    )!
    const fewer = { ...NO_DISPUTES, upheld: (1_000 * Number(percent)) / 100 - 1 }
    assert.strictEqual(pointsOf({ calls: 1_000, disputes: fewer }).disputes, Number(points))
    assert.isUndefined(adviceFor({ disputes: { ...NO_DISPUTES, denied: 3 } }).disputes)
  })

  it("is what a badge is missing", () => {
    assert.include(adviceFor({ calls: 99, consumers: 2 }).badge, "there are 99 by 2")
    assert.include(adviceFor({ level: "email" }).badge, "verified domain")
    assert.isUndefined(adviceFor({ level: "domain" }).badge)
  })
})

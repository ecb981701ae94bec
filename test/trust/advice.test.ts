/**
 * Following the advice to a provider raises its score; there is none where nothing would.
 */
import { assert, describe, it } from "@effect/vitest"
import { adviceOf, type TrustEvidence, trustOf } from "../../domain/trust/TrustScore.ts"

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

describe("advice", () => {
  it("is empty at the maximum score", () => {
    assert.deepStrictEqual(Object.values(adviceOf(BEST)), [undefined, undefined, undefined, undefined, undefined])
  })

  it.each([0, 0.5, 0.8999, 0.9, 0.97, 0.985, 0.992, 0.9951, 0.99899])(
    "states the gain of the next step of a success rate of %s",
    (successRate) => {
      const [, percent, points] = /from ([\d.]+)% it is worth (\d+)\./u.exec(adviceFor({ successRate }).uptime!)!
      assert.strictEqual(pointsOf({ successRate: Number(percent) / 100 }).uptime, Number(points))
      assert.isAbove(Number(points), pointsOf({ successRate }).uptime)
    }
  )

  it.each([201, 501, 999, 1_500, 4_999, 60_000])("states the gain of the next step of %s ms", (p95Ms) => {
    const [, most, points] = /up to (\d+) ms it is worth (\d+)\./u.exec(adviceFor({ p95Ms }).latency!)!
    assert.strictEqual(pointsOf({ p95Ms: Number(most) }).latency, Number(points))
    assert.isAbove(Number(points), pointsOf({ p95Ms }).latency)
  })

  it("is more calls, where all of them succeed fast", () => {
    assert.include(adviceFor({ calls: 50 }).uptime, "50 calls count for 33%")
    assert.include(adviceFor({ calls: 1 }).latency, "1 call counts for 0%")
    assert.include(adviceFor({ calls: 0, successRate: undefined }).uptime, "Not enough calls yet")
  })

  it("is a higher verification level", () => {
    assert.match(adviceFor({ level: "unverified" }).verification!, /mailbox \(10\).*domain \(20\).*repository \(25\)/u)
    assert.notInclude(adviceFor({ level: "domain" }).verification, "mailbox")
  })

  it("is to contest disputes, and states which share of them is worth more points", () => {
    const disputes = { ...NO_DISPUTES, upheld: 30 }
    const [, percent, points] = /Below ([\d.]+)% of calls it is worth (\d+)/u.exec(
      adviceFor({ calls: 1_000, disputes }).disputes!
    )!
    const fewer = { ...NO_DISPUTES, upheld: (1_000 * Number(percent)) / 100 - 1 }
    assert.strictEqual(pointsOf({ calls: 1_000, disputes: fewer }).disputes, Number(points))
    assert.isUndefined(adviceFor({ disputes: { ...NO_DISPUTES, denied: 3 } }).disputes)
  })

  it("names what is missing for a badge", () => {
    assert.include(adviceFor({ calls: 99, consumers: 2 }).badge, "there are 99 by 2")
    assert.include(adviceFor({ level: "email" }).badge, "verified domain")
    assert.isUndefined(adviceFor({ level: "domain" }).badge)
  })
})

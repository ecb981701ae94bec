/**
 * The published formula with its boundaries, and the histogram of durations below it.
 */
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import {
  bounded,
  countOf,
  EXACT_CALLS_MAX,
  latenciesOf,
  lengthsIn,
  merge,
  percentiles,
  stepOf
} from "../../domain/trust/Latencies.ts"
import {
  disputePoints,
  latencyPoints,
  type TrustEvidence,
  trustOf,
  uptimePoints
} from "../../domain/trust/TrustScore.ts"

const NO_DISPUTES = { upheld: 0, denied: 0 }
const MUCH: TrustEvidence = {
  level: "code",
  calls: 1_000_000,
  consumers: 50,
  successRate: 1,
  p95Ms: 100,
  disputes: NO_DISPUTES
}

describe("the points", () => {
  it.each([
    [1, 25],
    [0.999, 25],
    [0.99899, 23],
    [0.995, 23],
    [0.99499, 20],
    [0.99, 20],
    [0.98999, 17],
    [0.98, 17],
    [0.97999, 12],
    [0.95, 12],
    [0.94999, 8],
    [0.9, 8],
    [0.89999, 3],
    [0, 3],
    [undefined, 12.5]
  ])("of a success rate of %s are %s", (rate, points) => {
    assert.strictEqual(uptimePoints(rate), points)
  })

  it.each([
    [0, 25],
    [200, 25],
    [201, 22],
    [500, 22],
    [501, 18],
    [1_000, 18],
    [1_001, 14],
    [2_000, 14],
    [2_001, 8],
    [5_000, 8],
    [5_001, 3],
    [undefined, 12.5]
  ])("of a p95 of %s ms are %s", (ms, points) => {
    assert.strictEqual(latencyPoints(ms), points)
  })

  it.each([
    [{}, 1_000, 25],
    [{ denied: 3 }, 1_000, 24],
    [{ denied: 2, upheld: 1 }, 1_000, 20],
    [{ upheld: 10 }, 1_000, 15],
    [{ upheld: 49 }, 1_000, 15],
    [{ upheld: 50 }, 1_000, 8],
    [{ upheld: 99 }, 1_000, 8],
    [{ upheld: 100 }, 1_000, 2],
    [{ upheld: 1 }, 0, 2]
  ])("of disputes %o in %s calls are %s", (disputes, calls, points) => {
    assert.strictEqual(disputePoints({ ...NO_DISPUTES, ...disputes }, calls), points)
  })
})

describe("the score", () => {
  it("is the sum of its components, for any evidence", () => {
    for (const level of ["unverified", "email", "domain", "code"] as const) {
      for (const calls of [0, 1, 99, 100, 10_000]) {
        for (const successRate of [0, 0.5, 0.95, 1]) {
          const { components, score } = trustOf({ ...MUCH, level, calls, successRate })
          assert.strictEqual(
            components.verification + components.uptime + components.latency + components.disputes,
            score
          )
          assert.isTrue(score >= 0 && score <= 100)
        }
      }
    }
  })

  it("of much good evidence is a hundred, and of much bad evidence is low", () => {
    assert.deepStrictEqual([trustOf(MUCH).score, trustOf(MUCH).badge, trustOf(MUCH).confidence], [100, "verified", 1])
    const bad = trustOf({
      ...MUCH,
      level: "unverified",
      successRate: 0,
      p95Ms: 9_999,
      disputes: { ...NO_DISPUTES, upheld: 200_000 }
    })
    assert.deepStrictEqual([bad.score, bad.badge], [8, "unrated"])
  })

  it("of a small sample is near the middle", () => {
    const few = trustOf({ ...MUCH, calls: 100 })
    assert.strictEqual(few.confidence, 0.5)
    assert.deepStrictEqual([few.components.uptime, few.components.latency], [19, 19])
    const none = trustOf({ ...MUCH, calls: 0, successRate: undefined, p95Ms: undefined })
    assert.deepStrictEqual([none.confidence, none.components.uptime, none.components.latency], [0, 13, 13])
  })

  it("is rated only on enough calls of enough consumers, and verified only with a domain", () => {
    assert.strictEqual(trustOf({ ...MUCH, calls: 99 }).badge, "unrated")
    assert.strictEqual(trustOf({ ...MUCH, consumers: 2 }).badge, "unrated")
    assert.strictEqual(trustOf({ ...MUCH, level: "email" }).badge, "trusted")
    assert.strictEqual(trustOf({ ...MUCH, level: "domain" }).badge, "verified")
    const middling = trustOf({ ...MUCH, level: "unverified", successRate: 0.9, p95Ms: 4_000 })
    assert.deepStrictEqual([middling.score, middling.badge], [41, "basic"])
  })
})

const Lengths = Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 100_000 }))).check(
  Schema.isMaxLength(200)
)

/** The element ceil(p · n) of the sorted list. */
const nearestRank = (lengths: ReadonlyArray<number>, share: number) =>
  lengths.toSorted((a, b) => a - b)[Math.max(1, Math.ceil(share * lengths.length)) - 1]

describe("durations", () => {
  it.prop("have the nearest rank of the sorted list", [Lengths], ([lengths]) => {
    const shares = [0.01, 0.5, 0.95, 0.99, 1]
    assert.deepStrictEqual(
      percentiles([latenciesOf(lengths)], shares),
      shares.map((share) => nearestRank(lengths, share))
    )
    assert.strictEqual(countOf(latenciesOf(lengths)), lengths.length)
  })

  it.prop("of parts merge to those of the whole, in any order", [Lengths, Lengths], ([one, other]) => {
    const whole = latenciesOf([...one, ...other])
    assert.deepStrictEqual(merge([latenciesOf(one), latenciesOf(other)]), whole)
    assert.deepStrictEqual(merge([latenciesOf(other), latenciesOf(one)]), whole)
    assert.deepStrictEqual(merge([whole]), whole)
  })

  it("are rounded by at most one part in 128, and only once", () => {
    for (let ms = 0; ms < 200_000; ms += ms < 1_000 ? 1 : 37) {
      const step = stepOf(ms)
      assert.isAtMost(Math.abs(step - ms), ms / 128)
      assert.strictEqual(stepOf(step), step)
    }
    const many = latenciesOf(Array.from({ length: EXACT_CALLS_MAX + 1 }, (_, n) => n + 1_000))
    const few = bounded(many)
    assert.isBelow(lengthsIn(few), 300)
    assert.deepStrictEqual(bounded(few), few)
    const [exact] = percentiles([many], [0.95])
    const [near] = percentiles([few], [0.95])
    assert.isAtMost(Math.abs(near! - exact!), exact! / 100)
    const exactly = latenciesOf(Array.from({ length: EXACT_CALLS_MAX }, (_, n) => n * 7))
    assert.deepStrictEqual(bounded(exactly), exactly)
  })
})

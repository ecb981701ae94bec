/**
 * The scale of a chart: whole units, from zero to at least the highest value.
 */
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { scaleTicks } from "../../../adapters/site/console/TimeChart.browser.ts"

const Highest = Schema.Int.check(Schema.isBetween({ minimum: 2, maximum: 1e15 }))

describe("the ticks of a chart", () => {
  it("have no part of a call or of a microcent", () => {
    assert.deepStrictEqual(scaleTicks(0, 1), [0, 1])
    assert.deepStrictEqual(scaleTicks(0, 8), [0, 2, 4, 6, 8])
    assert.deepStrictEqual(scaleTicks(0, 0), [0, 1])
    assert.deepStrictEqual(scaleTicks(90, 100), [90, 92, 94, 96, 98, 100])
    assert.deepStrictEqual(scaleTicks(0, 12_500_000), [0, 5_000_000, 10_000_000, 15_000_000])
  })

  it.prop("reach the highest value in two to five steps", { highest: Highest }, ({ highest }) => {
    const ticks = scaleTicks(0, highest)
    assert.isAtLeast(ticks.at(-1)!, highest)
    assert.isBelow(ticks.at(-2)!, highest)
    assert.isAtLeast(ticks.length, 3)
    assert.isAtMost(ticks.length, 6)
    assert.isTrue(ticks.every(Number.isSafeInteger))
  })
})

/**
 * The platform fee: its share of a cost, and when a change of a provider's fee takes effect.
 */
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Duration, Schema } from "effect"
import {
  basisPointsAt,
  FEE_BASIS_POINTS_MAX,
  feeOf,
  feePercent,
  NO_OWN_FEE,
  type OwnFee,
  planFee,
  type ProviderFee
} from "../../../domain/ledger/PlatformFee.ts"
import { Microcents, MICROCENTS_MAX } from "../../../domain/shared/Microcents.ts"

const BasisPoints = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: FEE_BASIS_POINTS_MAX }))
const DEFAULT = 1_000
const NOTICE = Duration.hours(24)
const HOUR_MS = 3_600_000
const at = (hours: number) => DateTime.makeUnsafe(Date.parse("2026-11-20T10:00:00.000Z") + hours * HOUR_MS)

const set = (fee: ProviderFee, wanted: OwnFee, hours: number, notice = NOTICE): ProviderFee =>
  planFee(fee, wanted, { defaultFee: DEFAULT, now: at(hours), notice })

const inEffect = (fee: ProviderFee, hours: number): number => basisPointsAt(fee, DEFAULT, at(hours).epochMilliseconds)

describe("the fee of a cost", () => {
  it.prop(
    "is the share rounded half up, and leaves the provider the rest",
    { cost: Microcents, basisPoints: BasisPoints },
    ({ basisPoints, cost }) => {
      const fee = feeOf(cost, basisPoints)
      assert.isTrue(0n <= fee && fee <= cost)
      assert.strictEqual(fee + (cost - fee), cost)
      const exact = cost * BigInt(basisPoints)
      const off = fee * 10_000n - exact
      const isLeast = fee === 1n && exact < 5_000n && exact > 0n
      assert.isTrue(isLeast || (-5_000n < off && off <= 5_000n))
      assert.strictEqual(fee === 0n, exact === 0n)
    }
  )

  it("rounds half a microcent up, and takes at least one", () => {
    const fees = [0n, 1n, 4n, 5n, 14n, 15n, 100n, MICROCENTS_MAX].map((cost) => feeOf(cost, 1_000))
    assert.deepStrictEqual(fees, [0n, 1n, 1n, 1n, 1n, 2n, 10n, 900_719_925_474_099n])
  })

  it("takes nothing where the fee is zero, and at most half", () => {
    assert.deepStrictEqual(
      [0n, 1n, MICROCENTS_MAX].map((cost) => feeOf(cost, 0)),
      [0n, 0n, 0n]
    )
    assert.deepStrictEqual(
      [1n, 2n, 3n, 1_000n].map((cost) => feeOf(cost, FEE_BASIS_POINTS_MAX)),
      [1n, 1n, 2n, 500n]
    )
  })

  it("is never less for a cost in parts", () => {
    for (const basisPoints of [1, 333, 1_000, 5_000]) {
      const inParts = Array.from({ length: 1_000 }, () => feeOf(7n, basisPoints)).reduce((sum, fee) => sum + fee, 0n)
      assert.isTrue(inParts * 10_000n >= 7_000n * BigInt(basisPoints), String(basisPoints))
    }
  })

  it("is shown in percent", () => {
    assert.deepStrictEqual([0, 1, 29, 57, 1_000, 1_234, 5_000].map(feePercent), [
      "0%",
      "0.01%",
      "0.29%",
      "0.57%",
      "10%",
      "12.34%",
      "50%"
    ])
  })
})

describe("a change of a provider's fee", () => {
  it("applies at once where it is lower", () => {
    const lower = set(NO_OWN_FEE, 400, 0)
    assert.deepStrictEqual(lower, { own: 400, upcoming: undefined })
    assert.strictEqual(inEffect(lower, 0), 400)
  })

  it("applies after the notice where it is higher, to the millisecond", () => {
    const higher = set(NO_OWN_FEE, 2_000, 0)
    assert.strictEqual(inEffect(higher, 0), DEFAULT)
    assert.strictEqual(basisPointsAt(higher, DEFAULT, at(24).epochMilliseconds - 1), DEFAULT)
    assert.strictEqual(inEffect(higher, 24), 2_000)
  })

  it("is an increase to remove a lower fee, and none to remove a higher one", () => {
    const removed = set({ own: 400, upcoming: undefined }, undefined, 0)
    assert.deepStrictEqual([inEffect(removed, 23), inEffect(removed, 24)], [400, DEFAULT])
    assert.deepStrictEqual(set({ own: 2_000, upcoming: undefined }, undefined, 0), NO_OWN_FEE)
  })

  it("replaces an announced one: sooner only where it is not higher than that", () => {
    const announced = set(NO_OWN_FEE, 2_000, 0)
    const less = set(announced, 1_500, 10)
    assert.deepStrictEqual([inEffect(less, 23), inEffect(less, 24), inEffect(less, 48)], [DEFAULT, 1_500, 1_500])
    const more = set(announced, 3_000, 10)
    assert.deepStrictEqual([inEffect(more, 24), inEffect(more, 33), inEffect(more, 34)], [DEFAULT, DEFAULT, 3_000])
    assert.deepStrictEqual(set(announced, 900, 10), { own: 900, upcoming: undefined })
  })

  it("starts from an announced one whose time has come", () => {
    const passed = set(set(NO_OWN_FEE, 2_000, 0), 2_500, 30)
    assert.deepStrictEqual([inEffect(passed, 30), inEffect(passed, 53), inEffect(passed, 54)], [2_000, 2_000, 2_500])
  })

  it("applies at once without a notice", () => {
    assert.deepStrictEqual(set(NO_OWN_FEE, 2_000, 0, Duration.zero), { own: 2_000, upcoming: undefined })
  })

  it.prop(
    "never makes a fee higher within the notice",
    { changes: Schema.Array(Schema.Struct({ wanted: Schema.UndefinedOr(BasisPoints), hours: BasisPoints })) },
    ({ changes }) => {
      let fee: ProviderFee = NO_OWN_FEE
      let now = 0
      /** The highest fee that was announced a notice ago, or is in effect. */
      const announced: Array<{ readonly from: number; readonly basisPoints: number }> = [
        { from: 0, basisPoints: DEFAULT }
      ]
      for (const { hours, wanted } of changes) {
        now += hours % 30
        const before = inEffect(fee, now)
        fee = set(fee, wanted, now)
        assert.isAtMost(inEffect(fee, now), before)
        announced.push({ from: now + 24, basisPoints: wanted ?? DEFAULT })
        for (const later of [0, 5, 23, 24, 60]) {
          const known = announced.filter(({ from }) => from <= now + later).map(({ basisPoints }) => basisPoints)
          assert.isAtMost(inEffect(fee, now + later), Math.max(...known))
        }
      }
    }
  )
})

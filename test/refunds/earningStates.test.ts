/**
 * The state of each part of a provider's money, and when it becomes available.
 */
import { assert, it } from "@effect/vitest"
import { DateTime, Schema } from "effect"
import {
  DRY_RUN_EARNINGS_POLICY,
  earningStatesOf,
  inOrderOfRecovery,
  LIVE_EARNINGS_POLICY
} from "../../domain/earnings/EarningStates.ts"
import type { Lot } from "../../domain/ledger/Transfer.ts"

const OLD = DateTime.makeUnsafe("2026-01-01T08:00:00.000Z")
const at = (iso: string) => DateTime.makeUnsafe(iso)
const lot = (day: string, earned: bigint, taken = 0n): Lot => ({ day, credits: earned, debits: taken, earned })
const live = { policy: LIVE_EARNINGS_POLICY, registeredAt: OLD, reserveLifted: false }

const amounts = (lots: ReadonlyArray<Lot>, now: string, terms = live) => {
  const { availableMicrocents, maturingMicrocents, reservedMicrocents } = earningStatesOf(lots, terms, at(now))
  return [maturingMicrocents, reservedMicrocents, availableMicrocents]
}

it("earnings mature for seven full days, then a tenth stays reserved for ninety", () => {
  const lots = [lot("2026-10-01", 1_000n)]
  assert.deepStrictEqual(amounts(lots, "2026-10-01T12:00:00.000Z"), [1_000n, 0n, 0n])
  assert.deepStrictEqual(amounts(lots, "2026-10-08T23:59:59.999Z"), [1_000n, 0n, 0n])
  assert.deepStrictEqual(amounts(lots, "2026-10-09T00:00:00.000Z"), [0n, 100n, 900n])
  assert.deepStrictEqual(amounts(lots, "2026-12-30T23:59:59.999Z"), [0n, 100n, 900n])
  assert.deepStrictEqual(amounts(lots, "2026-12-31T00:00:00.000Z"), [0n, 0n, 1_000n])
})

it("earnings of a provider's first ninety days mature for thirty", () => {
  const terms = { ...live, registeredAt: at("2026-07-01T10:00:00.000Z") }
  // Ninety full days after the day of the registration.
  assert.deepStrictEqual(amounts([lot("2026-09-29", 10n)], "2026-10-29T12:00:00.000Z", terms), [10n, 0n, 0n])
  assert.deepStrictEqual(amounts([lot("2026-09-29", 10n)], "2026-10-30T00:00:00.000Z", terms), [0n, 1n, 9n])
  assert.deepStrictEqual(amounts([lot("2026-09-30", 10n)], "2026-10-08T00:00:00.000Z", terms), [0n, 1n, 9n])
})

it("the reserve is a share of what was earned, and never more than is left", () => {
  assert.deepStrictEqual(amounts([lot("2026-10-01", 1_000n, 950n)], "2026-11-01T00:00:00.000Z"), [0n, 50n, 0n])
  const returned: Lot = { day: "2026-10-01", credits: 1_900n, debits: 900n, earned: 1_000n }
  assert.deepStrictEqual(amounts([returned], "2026-11-01T00:00:00.000Z"), [0n, 100n, 900n])
  assert.deepStrictEqual(amounts([lot("2026-10-01", 1n)], "2026-11-01T00:00:00.000Z"), [0n, 1n, 0n])
  const lifted = { ...live, reserveLifted: true }
  assert.deepStrictEqual(amounts([lot("2026-10-01", 1_000n)], "2026-11-01T00:00:00.000Z", lifted), [0n, 0n, 1_000n])
})

it("in dry run mode everything is available immediately", () => {
  const terms = { ...live, policy: DRY_RUN_EARNINGS_POLICY, registeredAt: at("2026-10-01T00:00:00.000Z") }
  assert.deepStrictEqual(amounts([lot("2026-10-01", 1_000n)], "2026-10-01T00:00:00.000Z", terms), [0n, 0n, 1_000n])
})

it("states when which part becomes available", () => {
  const lots = [lot("2026-10-01", 1_000n), lot("2026-10-20", 500n)]
  assert.deepStrictEqual(earningStatesOf(lots, live, at("2026-10-21T00:00:00.000Z")).maturities, [
    { availableOn: "2026-10-28", amount: 450n, from: "maturing" },
    { availableOn: "2026-12-31", amount: 100n, from: "reserved" },
    { availableOn: "2027-01-19", amount: 50n, from: "reserved" }
  ])
})

const day = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 28 }))
const part = Schema.BigInt.check(Schema.isBetweenBigInt({ minimum: 0n, maximum: 500n }))
const Lots = Schema.Array(Schema.Struct({ day, taken: part, left: part }))

it.prop(
  "the states are all of the money, each part once, and each lasts until its day",
  [Lots, day],
  ([drawn, today]) => {
    const byDay = new Map(drawn.map((one) => [one.day, one]))
    const lots = [...byDay.values()].map((one) =>
      lot(`2026-10-${String(one.day).padStart(2, "0")}`, one.taken + one.left, one.taken)
    )
    const states = earningStatesOf(lots, live, at(`2026-11-${String(today).padStart(2, "0")}T06:00:00.000Z`))
    const total = [...byDay.values()].reduce((sum, { left }) => sum + left, 0n)
    assert.strictEqual(states.maturingMicrocents + states.reservedMicrocents + states.availableMicrocents, total)
    assert.strictEqual(
      inOrderOfRecovery(states).reduce((sum, { amount }) => sum + amount, 0n),
      total
    )
    const waiting = states.maturities.reduce((sum, { amount }) => sum + amount, 0n)
    assert.strictEqual(waiting, states.maturingMicrocents + states.reservedMicrocents)
  }
)

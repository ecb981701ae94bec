/**
 * A node's clock is corrected to the database's, whatever the machine's clock does.
 */
import { assert, describe, it } from "@effect/vitest"
import { type Clock, Effect } from "effect"
import { type CorrectedClock, makeCorrectedClock } from "../../../domain/shared/Time.ts"

const DAY_MS = 86_400_000
const TODAY_MS = Date.UTC(2026, 10, 22)

/** A machine whose wall clock is off by `aheadMs`, beside a database whose clock is right. */
const aMachine = (aheadMs: number) => {
  const state = { aheadMs, monotonicMs: 5_000, databaseAheadMs: 0 }
  const wallMs = () => TODAY_MS + state.monotonicMs + state.aheadMs
  const machine: Clock.Clock = {
    currentTimeMillisUnsafe: wallMs,
    currentTimeMillis: Effect.sync(wallMs),
    currentTimeNanosUnsafe: () => BigInt(wallMs()) * 1_000_000n,
    currentTimeNanos: Effect.sync(() => BigInt(wallMs()) * 1_000_000n),
    monotonicTimeNanosUnsafe: () => BigInt(state.monotonicMs) * 1_000_000n,
    monotonicTimeNanos: Effect.sync(() => BigInt(state.monotonicMs) * 1_000_000n),
    sleep: () => Effect.void
  }
  const corrected = makeCorrectedClock(machine)
  const databaseMs = () => TODAY_MS + state.monotonicMs + state.databaseAheadMs
  return { state, corrected, databaseMs }
}

/** The response takes `there` ms until the database reads its clock and `back` ms to return. */
const read = ({ corrected, databaseMs, state }: ReturnType<typeof aMachine>, there = 0, back = 0): void => {
  const askedMs = state.monotonicMs
  state.monotonicMs += there
  const seen = databaseMs()
  state.monotonicMs += back
  corrected.correct({ databaseMs: seen, askedMs, answeredMs: state.monotonicMs })
}

const nowOf = ({ clock }: CorrectedClock): number => clock.currentTimeMillisUnsafe()

describe("a corrected clock", () => {
  it("has a fault until the database's clock was read", () => {
    const machine = aMachine(0)
    assert.match(machine.corrected.fault() ?? "", /has not been read/u)
    read(machine)
    assert.isUndefined(machine.corrected.fault())
    assert.isUndefined(machine.corrected.jobsWaitFor())
  })

  it.each([31 * DAY_MS, -31 * DAY_MS, 3_600_000, -3_600_000, 2_100, -2_100])(
    "has the database's time on a machine that is %i ms off, and reports that",
    (aheadMs) => {
      const machine = aMachine(aheadMs)
      read(machine)
      machine.state.monotonicMs += 90_000
      assert.strictEqual(nowOf(machine.corrected), machine.databaseMs())
      assert.strictEqual(machine.corrected.skewMs(), aheadMs)
      assert.include(machine.corrected.fault(), aheadMs > 0 ? "s ahead of the database's" : "s behind the database's")
      assert.strictEqual(machine.corrected.jobsWaitFor(), machine.corrected.fault())
    }
  )

  it("accepts a machine that is two seconds off", () => {
    const machine = aMachine(2_000)
    read(machine)
    assert.isUndefined(machine.corrected.fault())
    assert.strictEqual(nowOf(machine.corrected), machine.databaseMs())
  })

  it("is not moved by a machine clock that jumps between two readings, and reports the jump immediately", () => {
    const machine = aMachine(0)
    read(machine)
    machine.state.aheadMs = 31 * DAY_MS
    machine.state.monotonicMs += 10
    assert.strictEqual(nowOf(machine.corrected), machine.databaseMs())
    assert.include(machine.corrected.fault(), "2678400 s ahead")
    machine.state.aheadMs = 0
    assert.isUndefined(machine.corrected.fault())
  })

  it("is not corrected by a slow response beyond its accuracy", () => {
    const machine = aMachine(0)
    read(machine)
    // Nearly all of the time passed before the database read its clock: half of it is the error of that reading.
    read(machine, 3_000, 0)
    assert.strictEqual(nowOf(machine.corrected), machine.databaseMs())
    read(machine, 0, 3_000)
    assert.strictEqual(nowOf(machine.corrected), machine.databaseMs())
  })

  it("follows a database clock that drifts", () => {
    const machine = aMachine(0)
    read(machine)
    machine.state.databaseAheadMs = 40
    machine.state.monotonicMs += 5_000
    read(machine, 1, 1)
    assert.approximately(nowOf(machine.corrected), machine.databaseMs(), 3)
    assert.isUndefined(machine.corrected.jobsWaitFor())
  })

  it("keeps jobs waiting for a minute after the database's clock jumped", () => {
    const machine = aMachine(0)
    read(machine)
    machine.state.databaseAheadMs = 31 * DAY_MS
    machine.state.aheadMs = 31 * DAY_MS
    machine.state.monotonicMs += 5_000
    read(machine)
    assert.isUndefined(machine.corrected.fault(), "its requests go on, at the database's time")
    assert.match(machine.corrected.jobsWaitFor() ?? "", /jumped by 2678400 s/u)
    machine.state.monotonicMs += 59_000
    assert.isDefined(machine.corrected.jobsWaitFor())
    machine.state.monotonicMs += 1_000
    assert.isUndefined(machine.corrected.jobsWaitFor())
  })
})

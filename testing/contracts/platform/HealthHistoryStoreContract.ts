/**
 * What a HealthHistoryStore must do. Each rule uses its own years of the store.
 */
import { Effect } from "effect"
import assert from "node:assert/strict"
import { HealthHistoryStore, type HealthSamples } from "../../../domain/platform/HealthHistory.ts"
import { UnitOfWork } from "../../../domain/shared/StoreUnavailable.ts"
import { type Contract, rule } from "../shared/Contract.ts"
import { atOnce } from "../shared/LedgerSamples.ts"

const samples = (date: string, check: string, ok = 0, degraded = 0, down = 0): HealthSamples => ({
  date,
  check,
  ok,
  degraded,
  down
})

export const healthHistoryStoreContract: Contract<HealthHistoryStore | UnitOfWork> = [
  rule(
    "adds to stored counts, and returns them by day and check since a day",
    Effect.gen(function* () {
      const store = yield* HealthHistoryStore
      yield* store.add([samples("2100-03-02", "b", 1, 2, 3), samples("2100-03-01", "b", 1)])
      yield* store.add([samples("2100-03-02", "a", 0, 1), samples("2100-03-02", "b", 10, 20, 30)])
      yield* store.add([])
      const all = [
        samples("2100-03-01", "b", 1),
        samples("2100-03-02", "a", 0, 1),
        samples("2100-03-02", "b", 11, 22, 33)
      ]
      assert.deepEqual(yield* store.since("2100-03-01"), all)
      assert.deepEqual(yield* store.since("2100-03-02"), all.slice(1))
      assert.deepEqual(yield* store.since("2100-03-03"), [])
    })
  ),

  rule(
    "totals repeated entries of one batch",
    Effect.gen(function* () {
      const store = yield* HealthHistoryStore
      const twice = samples("2101-01-01", "a", 1, 0, 2)
      yield* store.add([twice, samples("2101-01-01", "b", 1), twice])
      assert.deepEqual(yield* store.since("2101-01-01"), [
        samples("2101-01-01", "a", 2, 0, 4),
        samples("2101-01-01", "b", 1)
      ])
    })
  ),

  rule(
    "loses nothing that several nodes add concurrently in any order",
    Effect.gen(function* () {
      const store = yield* HealthHistoryStore
      const rows = ["a", "b", "c", "d"].map((check) => samples("2102-01-01", check, 1, 0, 1))
      yield* atOnce(24, (n) => store.add(n % 2 === 0 ? rows : rows.toReversed()))
      assert.deepEqual(
        yield* store.since("2102-01-01"),
        rows.map((row) => ({ ...row, ok: 24, down: 24 }))
      )
    })
  ),

  rule(
    "undoes additions and removals of a failed unit of work",
    Effect.gen(function* () {
      const store = yield* HealthHistoryStore
      const { atomically } = yield* UnitOfWork
      yield* store.add([samples("2103-01-01", "a", 1)])
      const both = Effect.andThen(store.add([samples("2103-01-01", "a", 5)]), store.prune("2104-01-01", 100))
      yield* Effect.exit(atomically(Effect.andThen(both, Effect.die("no"))))
      assert.deepEqual(yield* store.since("2103-01-01"), [samples("2103-01-01", "a", 1)])
    })
  ),

  rule(
    "removes the oldest entries before a day, up to a limit",
    Effect.gen(function* () {
      const store = yield* HealthHistoryStore
      yield* store.prune("2200-01-01", 1_000)
      const days = ["2026-01-01", "2026-01-02", "2026-01-03", "2026-01-04"]
      yield* store.add(days.toReversed().map((date) => samples(date, "a", 1)))
      assert.equal(yield* store.prune("2026-01-04", 2), 2)
      const left = yield* store.since("2026-01-01")
      assert.deepEqual(
        left.map(({ date }) => date),
        days.slice(2)
      )
      assert.equal(yield* store.prune("2026-01-04", 2), 1)
      assert.equal(yield* store.prune("2026-01-04", 2), 0)
      assert.equal((yield* store.since("2026-01-01")).length, 1)
    })
  )
]

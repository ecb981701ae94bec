/**
 * The history of health checks: one sample for each check, none lost while the store was unavailable, and none
 * invented.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Layer, Logger, Ref } from "effect"
import { TestClock } from "effect/testing"
import { LogStore } from "../../../domain/log/LogStore.ts"
import { Health, Heartbeats, type Probe, SchemaKeeper, StoreWatch } from "../../../domain/platform/Health.ts"
import {
  HealthHistory,
  HealthHistoryStore,
  type HealthSamples,
  HISTORY_DAYS_KEPT,
  historyOf,
  operationalShare,
  UNSTORED_ROWS_MAX,
  WHOLE_SERVICE
} from "../../../domain/platform/HealthHistory.ts"
import { StoreUnavailable } from "../../../domain/shared/StoreUnavailable.ts"
import { memoryStores } from "../../../src/layers/MemoryStores.ts"

/** A store that can be unavailable, together with its database probe. */
const historyOn = Effect.gen(function* () {
  const away = yield* Ref.make<"no" | "fails" | "silent">("no")
  const written = yield* Ref.make<ReadonlyArray<number>>([])
  const orAway = <A>(work: Effect.Effect<A, StoreUnavailable>): Effect.Effect<A, StoreUnavailable> =>
    Effect.flatMap(Ref.get(away), (how) =>
      how === "no"
        ? work
        : how === "fails"
          ? new StoreUnavailable({ reason: "unreachable", cause: "the store is away" })
          : Effect.never
    )
  const store = Layer.effect(
    HealthHistoryStore,
    Effect.map(HealthHistoryStore, (inner) => ({
      add: (rows: ReadonlyArray<HealthSamples>) =>
        orAway(
          Effect.andThen(
            Ref.update(written, (all) => [...all, rows.length]),
            inner.add(rows)
          )
        ),
      since: (date: string) => orAway(inner.since(date)),
      prune: (before: string, limit: number) => orAway(inner.prune(before, limit))
    }))
  ).pipe(Layer.provide(memoryStores))
  const layer = HealthHistory.layer.pipe(
    Layer.provide(Health.layer),
    Layer.provide(Heartbeats.layer),
    Layer.provide(Layer.mock(LogStore, { logs: Effect.succeed([]) })),
    Layer.provideMerge(store),
    Layer.provide(
      Layer.succeed(StoreWatch, {
        ping: orAway(Effect.undefined),
        connections: Effect.succeed([]),
        backlog: Effect.never
      })
    ),
    Layer.provide(
      Layer.succeed(SchemaKeeper, {
        state: orAway(Effect.succeed({ version: 1, expected: 1 })),
        bringUpToDate: Effect.die("nobody asked for that")
      })
    ),
    Layer.provideMerge(Logger.layer([]))
  )
  return { away, layer, written }
})

const squeaks: Probe = {
  name: "limits",
  critical: false,
  limitMs: 100,
  slowMs: 50,
  ask: Effect.succeed("It squeaks.")
}

const DAY = "24 hours"
/** The service as a whole, background, database, disk, log, schema. */
const CHECKS = 6

const read = (days: number) => Effect.flatMap(HealthHistory, (history) => history.read(days))
const sample = (...others: ReadonlyArray<Probe>) => Effect.flatMap(HealthHistory, (history) => history.sample(others))

const outcomesOf = (days: number, name: string) =>
  Effect.map(read(days), (checks) =>
    checks.find((check) => check.name === name)?.days.map(({ degraded, down, ok }) => [ok, degraded, down])
  )

describe("the history", () => {
  it.effect("counts every check by its status, and the service as a whole", () =>
    Effect.gen(function* () {
      const { layer } = yield* historyOn
      yield* Effect.gen(function* () {
        yield* sample()
        yield* sample(squeaks)
        yield* sample(squeaks)
        assert.deepStrictEqual(
          (yield* read(1)).map(({ name }) => name),
          [WHOLE_SERVICE, "background", "database", "disk", "limits", "log", "schema"]
        )
        assert.deepStrictEqual(yield* outcomesOf(1, WHOLE_SERVICE), [[1, 2, 0]])
        assert.deepStrictEqual(yield* outcomesOf(1, "database"), [[3, 0, 0]])
        assert.deepStrictEqual(yield* outcomesOf(1, "limits"), [[0, 2, 0]])
      }).pipe(Effect.provide(layer))
    })
  )

  it.effect("has days of UTC, and no data for days without checks", () =>
    Effect.gen(function* () {
      const { layer } = yield* historyOn
      yield* Effect.gen(function* () {
        yield* TestClock.adjust("23 hours")
        yield* sample()
        yield* TestClock.adjust(DAY)
        yield* TestClock.adjust(DAY)
        yield* sample()
        const [service] = yield* read(4)
        assert.deepStrictEqual(
          service!.days.map(({ date, ok }) => [date, ok]),
          [
            ["1969-12-31", 0],
            ["1970-01-01", 1],
            ["1970-01-02", 0],
            ["1970-01-03", 1]
          ]
        )
        assert.strictEqual(operationalShare(service!.days), 1)
        assert.isUndefined(operationalShare([service!.days[2]!]))
      }).pipe(Effect.provide(layer))
    })
  )

  it.effect.each(["fails", "silent"] as const)("contains an outage of a store that %s and recovers", (how) =>
    Effect.gen(function* () {
      const { away, layer, written } = yield* historyOn
      yield* Effect.gen(function* () {
        yield* sample()
        yield* Ref.set(away, how)
        for (let n = 0; n < 3; n++) {
          const asked = yield* Effect.forkChild(Effect.exit(sample()), { startImmediately: true })
          for (let second = 0; second < 30; second++) yield* TestClock.adjust("1 second")
          const exit = asked.pollUnsafe()
          // It fails, so that the job is reported late; and it is given up where it would take forever.
          assert.isTrue(exit !== undefined && Exit.isSuccess(exit) && Exit.isFailure(exit.value))
        }
        yield* Ref.set(away, "no")
        yield* sample()
        assert.deepStrictEqual(yield* outcomesOf(1, WHOLE_SERVICE), [[2, 0, 3]])
        assert.deepStrictEqual(yield* outcomesOf(1, "database"), [[2, 0, 3]])
        // Once: samples that were stored are not sent again.
        yield* sample()
        assert.deepStrictEqual(yield* outcomesOf(1, "database"), [[3, 0, 3]])
        assert.deepStrictEqual(yield* Ref.get(written), [CHECKS, CHECKS, CHECKS])
      }).pipe(Effect.provide(layer))
    })
  )

  it.effect("buffers the newest samples up to its bound while it cannot store them", () =>
    Effect.gen(function* () {
      const { away, layer } = yield* historyOn
      const days = UNSTORED_ROWS_MAX / CHECKS + 10
      yield* Effect.gen(function* () {
        yield* Ref.set(away, "fails")
        for (let n = 0; n < days; n++) {
          assert.isTrue(Exit.isFailure(yield* Effect.exit(sample())))
          yield* TestClock.adjust(DAY)
        }
        yield* Ref.set(away, "no")
        yield* sample()
        const [service] = yield* read(days + 1)
        const kept = service!.days.map(({ down, ok }) => down + ok)
        assert.strictEqual(
          kept.reduce((a, b) => a + b, 0),
          UNSTORED_ROWS_MAX / CHECKS
        )
        assert.deepStrictEqual([kept[0], kept[10], kept[11], kept.at(-1)], [0, 0, 1, 1])
      }).pipe(Effect.provide(layer))
    })
  )

  it.effect("is kept for its retention period", () =>
    Effect.gen(function* () {
      const { layer } = yield* historyOn
      yield* Effect.gen(function* () {
        const history = yield* HealthHistory
        yield* sample()
        yield* TestClock.adjust(`${24 * HISTORY_DAYS_KEPT} hours`)
        assert.strictEqual(yield* history.prune, 0)
        yield* TestClock.adjust(DAY)
        assert.strictEqual(yield* history.prune, CHECKS)
        assert.deepStrictEqual(yield* (yield* HealthHistoryStore).since("1970-01-01"), [])
      }).pipe(Effect.provide(layer))
    })
  )
})

describe("a history", () => {
  const row = (date: string, check: string, ok: number): HealthSamples => ({ date, check, ok, degraded: 1, down: 0 })

  it("shows a check that is no longer made, and nothing of other days", () => {
    const rows = [row("2026-01-01", "gone", 3), row("2026-01-05", "late", 1), row("2026-01-02", WHOLE_SERVICE, 1)]
    const history = historyOf(["2026-01-01", "2026-01-02"], rows)
    assert.deepStrictEqual(
      history.map(({ days, name }) => [name, days.map(({ ok }) => ok)]),
      [
        [WHOLE_SERVICE, [0, 1]],
        ["gone", [3, 0]],
        ["late", [0, 0]]
      ]
    )
    assert.strictEqual(operationalShare(history[1]!.days), 0.75)
  })

  it("without samples is the service without data", () => {
    const [only, ...others] = historyOf(["2026-01-01"], [])
    assert.deepStrictEqual(others, [])
    assert.strictEqual(only!.name, WHOLE_SERVICE)
    assert.isUndefined(operationalShare(only!.days))
  })
})

/**
 * What makes the service ok, degraded or down.
 */
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Fiber, Layer, Logger } from "effect"
import { TestClock } from "effect/testing"
import { LogStore } from "../../../domain/log/LogStore.ts"
import {
  type Condition,
  Health,
  Heartbeats,
  overall,
  type Probe,
  SchemaKeeper,
  StoreWatch
} from "../../../domain/platform/Health.ts"
import { makeReadReplica, ReadReplica } from "../../../domain/platform/ReadReplica.ts"

interface Parts {
  readonly ping?: Effect.Effect<string | undefined>
  readonly schema?: { readonly version: number; readonly expected: number }
}

const healthOf = ({ ping = Effect.undefined, schema = { version: 3, expected: 3 } }: Parts = {}) =>
  Health.layer.pipe(
    Layer.provideMerge(Heartbeats.layer),
    Layer.provide(Layer.mock(LogStore, { logs: Effect.succeed([]) })),
    Layer.provide(Layer.succeed(StoreWatch, { ping, connections: Effect.succeed([]), backlog: Effect.never })),
    Layer.provide(
      Layer.succeed(SchemaKeeper, {
        state: Effect.succeed(schema),
        bringUpToDate: Effect.die("nobody asked for that")
      })
    ),
    Layer.provideMerge(Logger.layer([]))
  )

const probe = (ask: Probe["ask"], changes: Partial<Probe> = {}): Probe => ({
  name: "extra",
  critical: false,
  limitMs: 1_000,
  slowMs: 100,
  ask,
  ...changes
})

const check = (...others: ReadonlyArray<Probe>) => Effect.flatMap(Health, (health) => health.check(others))

describe("the status of the service", () => {
  it.each<readonly [critical: Condition, other: Condition, whole: Condition]>([
    ["ok", "ok", "ok"],
    ["ok", "degraded", "degraded"],
    ["ok", "down", "degraded"],
    ["degraded", "ok", "degraded"],
    ["degraded", "down", "degraded"],
    ["down", "ok", "down"],
    ["down", "down", "down"]
  ])("with required parts %s and optional parts %s is %s", (critical, other, whole) => {
    const probes = [
      { name: "a", critical: true },
      { name: "b", critical: false }
    ]
    const checks = [
      { name: "a", status: critical },
      { name: "b", status: other }
    ]
    assert.strictEqual(overall(probes, checks), whole)
  })
})

describe("health", () => {
  it.effect("tells how far the read replica is behind, and not where it is", () => {
    const replica = makeReadReplica(5_000, () => 0)
    replica.found({ name: "db2.internal:5432", asOfMs: 0 })
    return Effect.gen(function* () {
      const { checks } = yield* check()
      const found = checks.find(({ name }) => name === "read_replica")
      assert.match(JSON.stringify(found), /is at most 0 ms behind the primary/u)
      assert.notMatch(JSON.stringify(checks), /internal|5432/u)
    }).pipe(Effect.provide(healthOf().pipe(Layer.provide(Layer.succeed(ReadReplica, replica)))))
  })

  it.effect("is ok and ready where every part responds", () =>
    Effect.gen(function* () {
      yield* TestClock.adjust("90 seconds")
      const report = yield* check(probe(Effect.undefined))
      assert.strictEqual(report.status, "ok")
      assert.strictEqual(report.uptimeSeconds, 90)
      assert.deepStrictEqual(
        report.checks.map(({ name, status }) => [name, status]),
        [
          ["database", "ok"],
          ["disk", "ok"],
          ["schema", "ok"],
          ["log", "ok"],
          ["background", "ok"],
          ["extra", "ok"]
        ]
      )
      assert.isTrue(yield* (yield* Health).isReady)
    }).pipe(Effect.provide(healthOf()))
  )

  it.effect("stays ok with a warning about the database, and shows it", () =>
    Effect.gen(function* () {
      const report = yield* check()
      assert.strictEqual(report.status, "ok")
      const [database] = report.checks
      assert.deepInclude(database, { name: "database", status: "ok", message: "Its role is a superuser." })
    }).pipe(Effect.provide(healthOf({ ping: Effect.succeed("Its role is a superuser.") })))
  )

  it.effect("is down without the database, and reveals nothing internal", () =>
    Effect.gen(function* () {
      const report = yield* check()
      assert.strictEqual(report.status, "down")
      assert.notInclude(JSON.stringify(report.checks), "10.0.0.7")
      assert.isFalse(yield* (yield* Health).isReady)
    }).pipe(Effect.provide(healthOf({ ping: Effect.die(new Error("connect ECONNREFUSED 10.0.0.7")) })))
  )

  it.effect("waits for a part no longer than that part's own limit", () =>
    Effect.gen(function* () {
      const asked = yield* Effect.forkChild(
        check(probe(Effect.never, { name: "a", limitMs: 300 }), probe(Effect.never, { name: "b", limitMs: 900 }))
      )
      yield* TestClock.adjust("899 millis")
      assert.isUndefined(asked.pollUnsafe())
      yield* TestClock.adjust("1 millis")
      const report = yield* Fiber.join(asked)
      assert.strictEqual(report.status, "degraded")
      const [a, b] = report.checks.slice(-2)
      assert.deepStrictEqual([a?.status, b?.status], ["down", "down"])
    }).pipe(Effect.provide(healthOf()))
  )

  it.effect("is degraded where a response is late, and where a part reports a fault", () =>
    Effect.gen(function* () {
      const asked = yield* Effect.forkChild(check(probe(Effect.as(Effect.sleep("101 millis"), undefined))))
      yield* TestClock.adjust("101 millis")
      const slow = yield* Fiber.join(asked)
      assert.deepStrictEqual([slow.status, slow.checks.at(-1)?.status], ["degraded", "degraded"])
      const complaint = yield* check(probe(Effect.succeed("It squeaks.")))
      assert.deepStrictEqual([complaint.status, complaint.checks.at(-1)?.message], ["degraded", "It squeaks."])
    }).pipe(Effect.provide(healthOf()))
  )

  it.effect("is degraded on a schema of an earlier release, and ok on a later one", () =>
    Effect.gen(function* () {
      const of = (version: number) =>
        Effect.map(check().pipe(Effect.provide(healthOf({ schema: { version, expected: 7 } }))), (r) => r.status)
      assert.deepStrictEqual([yield* of(6), yield* of(7), yield* of(8)], ["degraded", "ok", "ok"])
    })
  )

  it.effect("is degraded while a background job is late, and ok when it succeeds", () =>
    Effect.gen(function* () {
      const { beat } = yield* Heartbeats
      yield* beat("sweeper", Duration.seconds(5))
      yield* beat("prune", Duration.hours(1))
      yield* TestClock.adjust("75 seconds")
      assert.strictEqual((yield* check()).status, "ok")
      yield* TestClock.adjust("1 millis")
      const late = yield* check()
      assert.strictEqual(late.status, "degraded")
      assert.strictEqual(late.checks.find(({ name }) => name === "background")?.message, "Late: sweeper.")
      yield* beat("sweeper", Duration.seconds(5))
      assert.strictEqual((yield* check()).status, "ok")
    }).pipe(Effect.provide(healthOf()))
  )
})

/**
 * Deadlines without a timer each.
 */
import { assert, it } from "@effect/vitest"
import { Clock, Duration, Effect } from "effect"
import { TestClock } from "effect/testing"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { makeDeadlines, SWEEP_EVERY } from "../../../domain/shared/Deadlines.ts"
import { eventually } from "../../support/mcp/McpClient.ts"

const TIME = Duration.millis(1_000)
const SLACK = Duration.times(SWEEP_EVERY, 2)

const aWatch = Effect.map(makeDeadlines, (deadlines) => {
  const late: Array<string> = []
  return { late, start: (name: string, ms = 1_000) => deadlines.start(ms, () => late.push(name)) }
})

it.effect("run once, soon after their time, and not before", () =>
  Effect.gen(function* () {
    const { late, start } = yield* aWatch
    start("a")
    yield* TestClock.adjust("300 millis")
    start("b")
    yield* TestClock.adjust("699 millis")
    assert.deepStrictEqual(late, [])
    yield* TestClock.adjust(SLACK)
    assert.deepStrictEqual(late, ["a"])
    yield* TestClock.adjust("1 hour")
    assert.deepStrictEqual(late, ["a", "b"])
  })
)

it.effect("do not run when they were canceled, and can be restarted", () =>
  Effect.gen(function* () {
    const { late, start } = yield* aWatch
    const [ended, again, paused] = [start("ended"), start("again"), start("paused")]
    yield* TestClock.adjust("900 millis")
    ended.end()
    again.restart(1_000)
    paused.restart(Number.POSITIVE_INFINITY)
    yield* TestClock.adjust("900 millis")
    assert.deepStrictEqual(late, [])
    yield* TestClock.adjust(Duration.sum(TIME, SLACK))
    assert.deepStrictEqual(late, ["again"])
    paused.restart(0)
    yield* TestClock.adjust(SLACK)
    assert.deepStrictEqual(late, ["again", "paused"])
  })
)

it.effect("are not moved by changes of the calendar clock, forward or backward", () =>
  Effect.gen(function* () {
    const clock = yield* Clock.Clock
    let setBy = 0
    const calendar: Clock.Clock = { ...clock, currentTimeMillisUnsafe: () => clock.currentTimeMillisUnsafe() + setBy }
    const { late, start } = yield* Effect.provideService(aWatch, Clock.Clock, calendar)
    start("a")
    yield* TestClock.adjust("300 millis")
    setBy = Duration.toMillis("35 days")
    yield* TestClock.adjust("600 millis")
    assert.deepStrictEqual(late, [])
    setBy = -setBy
    yield* TestClock.adjust(Duration.sum(Duration.millis(100), SLACK))
    assert.deepStrictEqual(late, ["a"])
  })
)

it.effect("need no clock while there is none, and restart it afterwards", () =>
  Effect.gen(function* () {
    const { late, start } = yield* aWatch
    for (const name of ["one", "two"]) {
      // A tick for every quarter of a second of ten years would keep this test busy for hours.
      yield* TestClock.adjust("3650 days")
      start(name)
      yield* TestClock.adjust(Duration.sum(TIME, SLACK))
    }
    assert.deepStrictEqual(late, ["one", "two"])
  })
)

it.effect("all run when many are due", () =>
  Effect.gen(function* () {
    const { late, start } = yield* aWatch
    for (let n = 0; n < 10_000; n++) {
      const deadline = start(String(n), 1_000 + (n % 7) * 500)
      if (n % 3 === 0) deadline.end()
    }
    yield* TestClock.adjust("5 seconds")
    assert.lengthOf(late, 6_666)
    assert.lengthOf(new Set(late), 6_666)
  })
)

it.effect("are all late at once when they are ended, also paused ones", () =>
  Effect.gen(function* () {
    const { endAll, start } = yield* makeDeadlines
    const late: Array<string> = []
    start(1_000, () => late.push("a"))
    start(1_000, () => late.push("paused")).restart(Number.POSITIVE_INFINITY)
    start(1_000, () => late.push("ended")).end()
    endAll()
    assert.deepStrictEqual(late, ["a", "paused"])
    yield* TestClock.adjust("1 hour")
    assert.deepStrictEqual(late, ["a", "paused"])
  })
)

it.live("are not late at once when they start with what keeps them", () =>
  Effect.gen(function* () {
    const { start } = yield* makeDeadlines
    const late: Array<string> = []
    // In the tick of the start: no other fiber has run.
    start(Duration.toMillis("1 hour"), () => late.push("first"))
    start(0, () => late.push("due"))
    yield* eventually(() => late.length > 0)
    assert.deepStrictEqual(late, ["due"])
  })
)

it.effect("keep nothing of what ended alive", () =>
  Effect.gen(function* () {
    const deadlines = yield* makeDeadlines
    const begin = () => {
      const call = { onLate: () => {} }
      return { call: new WeakRef(call), deadline: deadlines.start(1_000, () => call.onLate()) }
    }
    const { call, deadline } = begin()
    setFlagsFromString("--expose-gc")
    const collect = runInNewContext("gc") as () => void
    // A WeakRef keeps its target until the turn of the event loop ends.
    yield* Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
    collect()
    assert.isDefined(call.deref())
    yield* Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
    assert.isTrue(deadline.end())
    collect()
    assert.isUndefined(call.deref())
    assert.isFalse(deadline.end())
  })
)

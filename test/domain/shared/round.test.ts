/**
 * A round of background work: what one item that fails does to the others.
 */
import { assert, it } from "@effect/vitest"
import { Cause, Deferred, Effect, Exit, Fiber, Logger } from "effect"
import { bothOf, round, roundOfPages, UNAVAILABLE_IN_A_ROW_MAX } from "../../../domain/shared/Round.ts"
import { StoreUnavailable } from "../../../domain/shared/StoreUnavailable.ts"

const unavailable = (reason: StoreUnavailable["reason"]) =>
  new StoreUnavailable({ reason, cause: new Error("scripted") })

const failing = "Numbers that could not be doubled"

/** Fails for the items that `failures` names, and records every item. */
const doubling = (failures: ReadonlyMap<number, Effect.Effect<never, StoreUnavailable>>) => {
  const tried: Array<number> = []
  const work = (n: number) =>
    Effect.suspend(() => {
      tried.push(n)
      return failures.get(n) ?? Effect.succeed(n * 2)
    })
  return { tried, work }
}

const all = (items: ReadonlyArray<number>, failure: StoreUnavailable) =>
  new Map(items.map((n) => [n, Effect.fail(failure)]))

it.effect("returns the results of items that all succeed", () =>
  Effect.gen(function* () {
    const { work } = doubling(new Map())
    assert.deepStrictEqual(yield* round([1, 2, 3], { failing, work }), [2, 4, 6])
    assert.deepStrictEqual(yield* round([], { failing, work }), [])
  })
)

it.effect("works on the items behind one that fails, and fails at the end", () =>
  Effect.gen(function* () {
    const failure = unavailable("busy")
    const { tried, work } = doubling(new Map([[2, Effect.fail(failure)]]))
    assert.strictEqual(yield* Effect.flip(round([1, 2, 3, 4], { failing, work })), failure)
    assert.deepStrictEqual(tried, [1, 2, 3, 4])
  })
)

it.effect("fails with a defect, where there is one, and not with a store that was busy", () =>
  Effect.gen(function* () {
    const bug = new Error("a bug")
    const { tried, work } = doubling(
      new Map([
        [1, Effect.fail(unavailable("busy"))],
        [2, Effect.die(bug)]
      ])
    )
    const exit = yield* Effect.exit(round([1, 2, 3], { failing, work }))
    assert.isTrue(Exit.isFailure(exit) && Cause.hasDies(exit.cause))
    assert.deepStrictEqual(tried, [1, 2, 3])
  })
)

for (const reason of ["unreachable", "disk_full", "overloaded", "book_unconfirmed"] as const) {
  it.effect(`ends early while the store is away: ${reason}`, () =>
    Effect.gen(function* () {
      const items = Array.from({ length: 1_000 }, (_, n) => n)
      const { tried, work } = doubling(all(items, unavailable(reason)))
      assert.strictEqual((yield* Effect.flip(round(items, { failing, work }))).reason, reason)
      assert.strictEqual(tried.length, UNAVAILABLE_IN_A_ROW_MAX)
    })
  )
}

it.effect("does not end early for failures that are not in a row", () =>
  Effect.gen(function* () {
    const items = Array.from({ length: 100 }, (_, n) => n)
    const odd = items.filter((n) => n % 2 === 1)
    const { tried, work } = doubling(all(odd, unavailable("unreachable")))
    yield* Effect.flip(round(items, { failing, work }))
    assert.deepStrictEqual(tried, items)
  })
)

it.effect("does not end early for locks", () =>
  Effect.gen(function* () {
    const items = Array.from({ length: 100 }, (_, n) => n)
    const { tried, work } = doubling(all(items.slice(0, 99), unavailable("busy")))
    yield* Effect.flip(round(items, { failing, work }))
    assert.deepStrictEqual(tried, items)
  })
)

it.effect("logs the first defect at once, also where a later page cannot be read", () => {
  const said: Array<unknown> = []
  const listening = Logger.layer([Logger.make(({ message }) => said.push(message))])
  const bug = Effect.die(new Error("a bug"))
  const { work } = doubling(
    new Map([
      [1, bug],
      [2, bug]
    ])
  )
  const read = (after?: number) =>
    after === undefined ? Effect.succeed([1, 2]) : Effect.fail(unavailable("unreachable"))
  return Effect.gen(function* () {
    const failure = yield* Effect.flip(roundOfPages({ pageMax: 2, read }, { failing, work }))
    assert.strictEqual(failure.reason, "unreachable")
    assert.lengthOf(said, 1)
    assert.include(String(said[0]), `${failing}, because of a defect`)
  }).pipe(Effect.provide(listening))
})

it.effect("of two, runs the second also where the first fails, and fails with both causes", () =>
  Effect.gen(function* () {
    const [busy, away] = [unavailable("busy"), unavailable("unreachable")]
    assert.deepStrictEqual(yield* bothOf(Effect.succeed(1), Effect.succeed("a")), [1, "a"])
    assert.strictEqual(yield* Effect.flip(bothOf(Effect.fail(busy), Effect.succeed(1))), busy)
    assert.strictEqual(yield* Effect.flip(bothOf(Effect.succeed(1), Effect.fail(away))), away)
    const exit = yield* Effect.exit(bothOf(Effect.fail(busy), Effect.fail(away)))
    assert.deepStrictEqual(Exit.isFailure(exit) && exit.cause.reasons.map((one) => one._tag === "Fail" && one.error), [
      busy,
      away
    ])
  })
)

it.effect("has at most as many items at once as allowed", () =>
  Effect.gen(function* () {
    let current = 0
    let most = 0
    const work = () =>
      Effect.gen(function* () {
        most = Math.max(most, ++current)
        yield* Effect.yieldNow
        current--
      })
    const items = Array.from({ length: 50 }, (_, n) => n)
    yield* round(items, { failing, concurrency: 4, work })
    assert.strictEqual(most, 4)
  })
)

it.effect("reads page after page, also behind items that fail, and none while the store is away", () =>
  Effect.gen(function* () {
    const read = (after = 0) => Effect.succeed([1, 2, 3, 4, 5, 6, 7].filter((n) => n > after).slice(0, 3))
    const fine = doubling(new Map())
    assert.deepStrictEqual(
      yield* roundOfPages({ pageMax: 3, read }, { failing, work: fine.work }),
      [2, 4, 6, 8, 10, 12, 14]
    )
    const busy = doubling(all([1, 3, 4], unavailable("busy")))
    yield* Effect.flip(roundOfPages({ pageMax: 3, read }, { failing, work: busy.work }))
    assert.deepStrictEqual(busy.tried, [1, 2, 3, 4, 5, 6, 7])
    const away = doubling(all([1, 2, 3, 4, 5, 6, 7], unavailable("unreachable")))
    yield* Effect.flip(roundOfPages({ pageMax: 3, read }, { failing, work: away.work }))
    assert.strictEqual(away.tried.length, UNAVAILABLE_IN_A_ROW_MAX)
  })
)

it.effect("ends at once when it is interrupted", () =>
  Effect.gen(function* () {
    const started = yield* Deferred.make<void>()
    const tried: Array<number> = []
    const work = (n: number) =>
      Effect.suspend(() => {
        tried.push(n)
        return Effect.andThen(Deferred.succeed(started, undefined), Effect.never)
      })
    const fiber = yield* Effect.forkChild(round([1, 2, 3], { failing, work }))
    yield* Deferred.await(started)
    yield* Fiber.interrupt(fiber)
    assert.deepStrictEqual(tried, [1])
  })
)

/**
 * A cache of the store: its time to live, and how often it queries the store.
 */
import { assert, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Scope } from "effect"
import { TestClock } from "effect/testing"
import { makeFreshCache } from "../../../domain/shared/FreshCache.ts"

const ENTRIES_MAX = 2

/** A store that answers when it is told to; every load returns the next number. */
const aStore = Effect.gen(function* () {
  const cache = yield* makeFreshCache<number>({ entriesMax: ENTRIES_MAX, ttlMs: 1_000 })
  const loads: Array<Deferred.Deferred<number, string>> = []
  const abandoned: Array<number> = []
  const load = Effect.gen(function* () {
    const answer = yield* Deferred.make<number, string>()
    const nth = loads.push(answer)
    return yield* Effect.onInterrupt(Deferred.await(answer), () => Effect.sync(() => abandoned.push(nth)))
  })
  return {
    cache,
    abandoned,
    count: () => loads.length,
    answer: (nth: number, value = nth) => Deferred.succeed(loads[nth - 1]!, value),
    reject: (nth: number) => Deferred.fail(loads[nth - 1]!, "refused"),
    ask: (key = "a") =>
      Effect.forkChild(
        Effect.suspend(() => cache.readThrough(key, load)),
        { startImmediately: true }
      )
  }
})

it.effect("query the store once for concurrent readers, and not again until they expire", () =>
  Effect.gen(function* () {
    const { answer, ask, count } = yield* aStore
    const readers = yield* Effect.replicateEffect(ask(), 64)
    assert.strictEqual(count(), 1)
    yield* answer(1)
    assert.deepStrictEqual(new Set(yield* Fiber.joinAll(readers)), new Set([1]))
    yield* TestClock.adjust("999 millis")
    assert.strictEqual(yield* Fiber.join(yield* ask()), 1)
    yield* TestClock.adjust("1 millis")
    const again = yield* Effect.replicateEffect(ask(), 64)
    assert.strictEqual(count(), 2)
    yield* answer(2)
    assert.deepStrictEqual(new Set(yield* Fiber.joinAll(again)), new Set([2]))
  })
)

it.effect("load each key separately", () =>
  Effect.gen(function* () {
    const { answer, ask } = yield* aStore
    const [a, b] = [yield* ask("a"), yield* ask("b")]
    yield* answer(2)
    assert.strictEqual(yield* Fiber.join(b), 2)
    yield* answer(1)
    assert.strictEqual(yield* Fiber.join(a), 1)
  })
)

it.effect("continue a load when the first reader is interrupted, and stop it when all are", () =>
  Effect.gen(function* () {
    const { abandoned, answer, ask, count } = yield* aStore
    const [first, second] = [yield* ask(), yield* ask()]
    yield* Fiber.interrupt(first)
    assert.deepStrictEqual(abandoned, [])
    yield* answer(1)
    assert.strictEqual(yield* Fiber.join(second), 1)

    const [third, fourth] = [yield* ask("b"), yield* ask("b")]
    yield* Fiber.interrupt(third)
    yield* Fiber.interrupt(fourth)
    assert.deepStrictEqual(abandoned, [2])
    yield* ask("b")
    assert.strictEqual(count(), 3, "nobody waits for what was given up")
  })
)

it.effect("return a failure to all readers, and query again after it", () =>
  Effect.gen(function* () {
    const { answer, ask, reject: refuse } = yield* aStore
    const readers = yield* Effect.replicateEffect(ask(), 3)
    yield* refuse(1)
    for (const reader of readers) assert.deepStrictEqual(yield* Fiber.await(reader), Exit.fail("refused"))
    const after = yield* ask()
    yield* answer(2)
    assert.strictEqual(yield* Fiber.join(after), 2)
  })
)

it.effect("neither keep nor share a load from before a change", () =>
  Effect.gen(function* () {
    const { answer, ask, cache, count } = yield* aStore
    for (const forget of [() => cache.forget("a"), () => cache.forgetAll()]) {
      const loads = count()
      const before = yield* ask()
      forget()
      const after = yield* ask()
      assert.strictEqual(count(), loads + 2)
      yield* answer(loads + 2)
      yield* answer(loads + 1)
      assert.deepStrictEqual(yield* Fiber.joinAll([before, after]), [loads + 1, loads + 2])
      assert.strictEqual(yield* Fiber.join(yield* ask()), loads + 2, "the older answer came later, and is not kept")
      forget()
    }
  })
)

it.effect("do not block readers by a load that hangs", () =>
  Effect.gen(function* () {
    const { answer, ask, count } = yield* aStore
    yield* ask()
    yield* TestClock.adjust("5 seconds")
    const later = yield* ask()
    assert.strictEqual(count(), 2)
    yield* answer(2)
    assert.strictEqual(yield* Fiber.join(later), 2)
  })
)

it.effect("keep a slow load, unless a later one has finished already", () =>
  Effect.gen(function* () {
    const { answer, ask, cache, count } = yield* aStore
    const slow = yield* ask()
    yield* TestClock.adjust("5500 millis")
    yield* ask()
    yield* TestClock.adjust("100 millis")
    yield* answer(2)
    yield* answer(1)
    assert.strictEqual(yield* Fiber.join(slow), 1)
    assert.strictEqual(yield* Fiber.join(yield* ask()), 2)

    cache.forgetAll()
    const alone = yield* ask("b")
    yield* answer(3)
    yield* Fiber.join(alone)
    assert.strictEqual(yield* Fiber.join(yield* ask("b")), 3)
    assert.strictEqual(count(), 3)
  })
)

it.effect("keep a bounded number of entries, and only values that should be kept", () =>
  Effect.gen(function* () {
    const { cache } = yield* aStore
    const asked: Array<string> = []
    const read = (key: string, isCacheable = true) =>
      cache.readThrough(
        key,
        Effect.sync(() => asked.push(key)),
        () => isCacheable
      )
    for (const key of ["a", "b", "c", "c", "b", "a"]) yield* Effect.suspend(() => read(key))
    assert.deepStrictEqual(asked, ["a", "b", "c", "a"])
    yield* Effect.suspend(() => read("worthless", false))
    yield* Effect.suspend(() => read("worthless", false))
    assert.deepStrictEqual(asked.slice(4), ["worthless", "worthless"])
  })
)

it.effect("interrupt what they load when their scope closes", () =>
  Effect.gen(function* () {
    const scope = yield* Scope.make()
    const { abandoned, ask } = yield* Scope.provide(aStore, scope)
    const readers = [yield* ask("a"), yield* ask("b")]
    yield* Scope.close(scope, Exit.void)
    assert.deepStrictEqual(abandoned.toSorted(), [1, 2])
    for (const reader of readers) assert.isTrue(Exit.isFailure(yield* Fiber.await(reader)))
  })
)

it.effect("do not keep their scope open for a load that cannot be interrupted", () =>
  Effect.gen(function* () {
    const scope = yield* Scope.make()
    const cache = yield* Scope.provide(makeFreshCache<number>({ entriesMax: ENTRIES_MAX, ttlMs: 1_000 }), scope)
    yield* Effect.forkDetach(cache.readThrough("a", Effect.uninterruptible(Effect.never)), { startImmediately: true })
    const closing = yield* Effect.forkDetach(Scope.close(scope, Exit.void), { startImmediately: true })
    yield* TestClock.adjust("10 seconds")
    assert.isDefined(closing.pollUnsafe())
  })
)

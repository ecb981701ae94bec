/**
 * Group commit alone, over a database that a test scripts.
 */
import { assert, it } from "@effect/vitest"
import { Cause, Deferred, Effect, Exit, Fiber, Scope } from "effect"
import { SqlError } from "effect/sql"
import * as GroupCommit from "../../../adapters/sql/shared/GroupCommit.ts"
import type { StoreUnavailable } from "../../../domain/shared/StoreUnavailable.ts"
import { atOnce } from "../../contracts/ledgerSamples.ts"

interface Batch {
  readonly items: ReadonlyArray<number>
  readonly again: boolean
}

const failure = (reason: SqlError.SqlError["reason"]) => Effect.fail(new SqlError.SqlError({ reason }))
const constraint = failure(new SqlError.ConstraintError({ cause: "no" }))
const connection = failure(new SqlError.ConnectionError({ cause: "gone" }))
const deadlock = failure(new SqlError.DeadlockError({ cause: "circle" }))

/** A lane that answers n with n * 10 and records its batches. */
const lane = (
  options: Partial<GroupCommit.GroupCommitOptions<number, number>>,
  outcome: (batch: Batch, attempt: number) => Effect.Effect<void, SqlError.SqlError> = () => Effect.void
) =>
  Effect.gen(function* () {
    const batches: Array<Batch> = []
    const submit = yield* GroupCommit.make<number, number>({
      name: "numbers",
      batchMax: 512,
      batchEnough: 512,
      batchWeightMax: 1_000,
      weightOf: () => 1,
      queueMax: 1_000,
      run: (items, again) =>
        Effect.suspend(() => outcome({ items, again }, batches.push({ items, again }))).pipe(
          Effect.andThen(Effect.sync(() => items.map((n) => n * 10)))
        ),
      ...options
    })
    return { submit, batches, sizes: () => batches.map((batch) => batch.items.length) }
  })

const reasonOf = (exit: Exit.Exit<unknown, StoreUnavailable>): string | undefined =>
  Exit.isFailure(exit) && exit.cause.reasons[0]?._tag === "Fail" ? exit.cause.reasons[0].error.reason : undefined

it.live("sends all items of one turn of the event loop as one batch, and gives each its own answer", () =>
  Effect.gen(function* () {
    const { submit, sizes } = yield* lane({})
    const answers = yield* atOnce(100, submit)
    assert.deepStrictEqual(
      answers,
      Array.from({ length: 100 }, (_, n) => n * 10)
    )
    assert.deepStrictEqual(sizes(), [100])
  }).pipe(Effect.scoped)
)

it.live("collects the items that arrive while a batch is running", () =>
  Effect.gen(function* () {
    const gate = yield* Deferred.make<void>()
    const { submit, sizes } = yield* lane({}, (_, attempt) => (attempt === 1 ? Deferred.await(gate) : Effect.void))
    const first = yield* Effect.forkChild(submit(1))
    while (sizes().length === 0) yield* Effect.sleep("1 millis")
    const others = yield* Effect.forkChild(atOnce(7, submit))
    yield* Effect.sleep("5 millis")
    yield* Deferred.succeed(gate, undefined)
    yield* Fiber.join(first)
    yield* Fiber.join(others)
    assert.deepStrictEqual(sizes(), [1, 7])
  }).pipe(Effect.scoped)
)

it.live("sends a batch before the end of the turn as soon as enough items wait, and the others after it", () =>
  Effect.gen(function* () {
    const { submit, sizes } = yield* lane({ batchEnough: 4 })
    yield* submit(100)
    // In another turn: the lane is idle again.
    yield* Effect.sleep("1 millis")
    const answers = yield* atOnce(7, submit)
    assert.deepStrictEqual(answers, [0, 10, 20, 30, 40, 50, 60])
    assert.deepStrictEqual(sizes(), [1, 4, 3])
  }).pipe(Effect.scoped)
)

it.live("sends half of a long queue, so that a burst spreads", () =>
  Effect.gen(function* () {
    const gate = yield* Deferred.make<void>()
    const { submit, sizes } = yield* lane({ batchEnough: 4 }, (_, attempt) =>
      attempt === 1 ? Deferred.await(gate) : Effect.void
    )
    const first = yield* Effect.forkChild(submit(1))
    while (sizes().length === 0) yield* Effect.sleep("1 millis")
    const others = yield* Effect.forkChild(atOnce(100, submit), { startImmediately: true })
    yield* Deferred.succeed(gate, undefined)
    yield* Fiber.join(first)
    yield* Fiber.join(others)
    assert.deepStrictEqual(sizes(), [1, 50, 25, 16, 9])
  }).pipe(Effect.scoped)
)

it.live("limits a batch by items and by weight, in order", () =>
  Effect.gen(function* () {
    const { submit, batches } = yield* lane({ batchMax: 4, batchWeightMax: 10, weightOf: (n) => n })
    yield* Effect.forEach([1, 2, 3, 1, 1, 9, 2, 50, 1], submit, { concurrency: "unbounded" })
    assert.deepStrictEqual(
      batches.map((batch) => batch.items),
      [[1, 2, 3, 1], [1, 9], [2], [50], [1]]
    )
  }).pipe(Effect.scoped)
)

it.live("rejects items while the queue is full, and accepts items again afterwards", () =>
  Effect.gen(function* () {
    const { submit } = yield* lane({ queueMax: 10 })
    const exits = yield* atOnce(12, (n) => Effect.exit(submit(n)))
    assert.deepStrictEqual(exits.map(Exit.isSuccess), [...Array.from({ length: 10 }, () => true), false, false])
    assert.strictEqual(reasonOf(exits[11]!), "overloaded")
    assert.strictEqual(yield* submit(1), 10)
  }).pipe(Effect.scoped)
)

it.live("never has two items of one key in a batch", () =>
  Effect.gen(function* () {
    const { submit, batches } = yield* lane({ keyOf: (n) => (n % 2 === 0 ? String(n) : undefined) })
    yield* Effect.forEach([2, 1, 1, 4, 2, 1, 4, 4], submit, { concurrency: "unbounded" })
    assert.deepStrictEqual(
      batches.map((batch) => batch.items),
      [[2, 1, 1, 4], [2, 1, 4], [4]]
    )
  }).pipe(Effect.scoped)
)

it.live("neither halves nor repeats a batch while the database rejects all writes", () =>
  Effect.gen(function* () {
    const readOnly = failure(new SqlError.UnknownError({ cause: { code: "25006" } }))
    const { submit, sizes } = yield* lane({}, () => readOnly)
    const exits = yield* atOnce(100, (n) => Effect.exit(submit(n)))
    assert.deepStrictEqual(new Set(exits.map(reasonOf)), new Set(["unreachable"]))
    assert.deepStrictEqual(sizes(), [100])
  }).pipe(Effect.scoped)
)

it.live("fails only the items that the database rejects", () =>
  Effect.gen(function* () {
    const { submit, batches } = yield* lane({}, ({ items }) =>
      items.includes(13) || items.includes(77) ? constraint : Effect.void
    )
    const exits = yield* atOnce(100, (n) => Effect.exit(submit(n)))
    assert.deepStrictEqual(
      exits.flatMap((exit, n) => (Exit.isFailure(exit) ? [n] : [])),
      [13, 77]
    )
    assert.isFalse(batches.some((batch) => batch.again))
    assert.isBelow(batches.length, 40)
  }).pipe(Effect.scoped)
)

it.live("repeats a batch after a deadlock, and marks it as repeated after a lost connection", () =>
  Effect.gen(function* () {
    const failures = [deadlock, connection, deadlock]
    const { submit, batches } = yield* lane({}, (_, attempt) => failures[attempt - 1] ?? Effect.void)
    assert.deepStrictEqual(yield* atOnce(3, submit), [0, 10, 20])
    assert.deepStrictEqual(
      batches.map((batch) => batch.again),
      [false, false, true, true]
    )
  }).pipe(Effect.scoped)
)

it.live("fails a batch when the database stays unavailable, and runs the next one", () =>
  Effect.gen(function* () {
    const { submit, sizes } = yield* lane({}, (_, attempt) => (attempt <= 7 ? connection : Effect.void))
    const exits = yield* atOnce(5, (n) => Effect.exit(submit(n)))
    for (const exit of exits) assert.strictEqual(reasonOf(exit), "unreachable")
    assert.deepStrictEqual(sizes(), [5, 5, 5, 5, 5, 5, 5])
    assert.strictEqual(yield* submit(1), 10)
  }).pipe(Effect.scoped)
)

it.live("does not send an item whose caller was interrupted", () =>
  Effect.gen(function* () {
    const gate = yield* Deferred.make<void>()
    const { submit, batches } = yield* lane({}, (_, attempt) => (attempt === 1 ? Deferred.await(gate) : Effect.void))
    const first = yield* Effect.forkChild(submit(1))
    while (batches.length === 0) yield* Effect.sleep("1 millis")
    const [left, stayed] = [yield* Effect.forkChild(submit(2)), yield* Effect.forkChild(submit(3))]
    yield* Effect.sleep("5 millis")
    yield* Fiber.interrupt(left)
    yield* Deferred.succeed(gate, undefined)
    yield* Fiber.join(first)
    yield* Fiber.join(stayed)
    assert.deepStrictEqual(
      batches.map((batch) => batch.items),
      [[1], [3]]
    )
  }).pipe(Effect.scoped)
)

it.live("fails only the item whose lock timed out, without a second attempt", () =>
  Effect.gen(function* () {
    const lockTimeout = failure(new SqlError.LockTimeoutError({ cause: "still locked" }))
    const { submit, batches } = yield* lane({}, ({ items }) => (items.includes(3) ? lockTimeout : Effect.void))
    const exits = yield* atOnce(8, (n) => Effect.exit(submit(n)))
    assert.deepStrictEqual(
      exits.flatMap((exit, n) => (Exit.isFailure(exit) ? [n] : [])),
      [3]
    )
    assert.lengthOf(
      batches.filter((batch) => batch.items.includes(3)),
      4
    )
  }).pipe(Effect.scoped)
)

it.live("finishes the running batch when it is closed, and interrupts waiting and later items", () =>
  Effect.gen(function* () {
    const gate = yield* Deferred.make<void>()
    const scope = yield* Scope.make()
    const { submit, batches } = yield* lane({}, () => Deferred.await(gate)).pipe(Scope.provide(scope))
    const sent = yield* Effect.forkChild(submit(1))
    while (batches.length === 0) yield* Effect.sleep("1 millis")
    const waiting = yield* Effect.forkChild(submit(2))
    yield* Effect.sleep("5 millis")
    const closing = yield* Effect.forkChild(Scope.close(scope, Exit.void))
    yield* Deferred.succeed(gate, undefined)
    yield* Fiber.join(closing)
    assert.strictEqual(yield* Fiber.join(sent), 10)
    for (const exit of [yield* Fiber.await(waiting), yield* Effect.exit(submit(3))]) {
      assert.isTrue(Exit.isFailure(exit) && Cause.hasInterruptsOnly(exit.cause))
    }
  })
)

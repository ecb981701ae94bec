/**
 * What a UnitOfWork must do, seen in the stores of accounts and keys.
 */
import { Cause, Deferred, Effect, Exit, Fiber, Option } from "effect"
import assert from "node:assert/strict"
import { AccountStore } from "../../../domain/accounts/Account.ts"
import { KeyStore } from "../../../domain/accounts/Keys.ts"
import { StoreUnavailable, UnitOfWork } from "../../../domain/shared/StoreUnavailable.ts"
import { aConsumer, aKey, instant } from "./AccountSamples.ts"
import { type Contract, rule } from "./Contract.ts"

const isKept = Effect.fnUntraced(function* (consumer: {
  readonly id: Parameters<AccountStore["Service"]["findConsumer"]>[0]
}) {
  return Option.isSome(yield* (yield* AccountStore).findConsumer(consumer.id))
})

/** None of these tests expects it. */
const isUnavailable = (error: unknown): error is StoreUnavailable => error instanceof StoreUnavailable

export const unitOfWorkContract: Contract<AccountStore | KeyStore | UnitOfWork> = [
  rule(
    "commits a unit that succeeds",
    Effect.gen(function* () {
      const { atomically } = yield* UnitOfWork
      const [a, b] = yield* atomically(Effect.all([aConsumer(), aConsumer()]))
      assert.equal(yield* isKept(a), true)
      assert.equal(yield* isKept(b), true)
    })
  ),

  rule(
    "undoes a unit that fails, and returns its error",
    Effect.gen(function* () {
      const { atomically } = yield* UnitOfWork
      const written: Array<Effect.Success<ReturnType<typeof aConsumer>>> = []
      const unit = Effect.gen(function* () {
        written.push(yield* aConsumer(), yield* aConsumer())
        return yield* Effect.fail("changed my mind")
      })
      assert.equal(yield* Effect.flip(atomically(unit)), "changed my mind")
      assert.equal(written.length, 2)
      for (const consumer of written) assert.equal(yield* isKept(consumer), false)
    })
  ),

  rule(
    "undoes a unit that dies",
    Effect.gen(function* () {
      const { atomically } = yield* UnitOfWork
      const defect = new Error("a fault")
      let written: Effect.Success<ReturnType<typeof aConsumer>> | undefined
      const exit = yield* Effect.exit(
        atomically(
          Effect.gen(function* () {
            written = yield* aConsumer()
            return yield* Effect.die(defect)
          })
        )
      )
      assert.equal(Exit.isFailure(exit) && Cause.squash(exit.cause) === defect, true)
      assert.equal(yield* isKept(written!), false)
    })
  ),

  rule(
    "undoes a unit that is interrupted, and runs later ones",
    Effect.gen(function* () {
      const { atomically } = yield* UnitOfWork
      const written = yield* Deferred.make<Effect.Success<ReturnType<typeof aConsumer>>>()
      const fiber = yield* Effect.forkChild(
        atomically(
          Effect.gen(function* () {
            yield* Deferred.succeed(written, yield* aConsumer())
            return yield* Effect.never
          })
        )
      )
      const consumer = yield* Deferred.await(written)
      yield* Fiber.interrupt(fiber)
      assert.equal(yield* isKept(consumer), false)
      assert.equal(yield* isKept(yield* atomically(aConsumer())), true)
    })
  ),

  rule(
    "undoes an inner unit that succeeded when the outer one fails",
    Effect.gen(function* () {
      const { atomically } = yield* UnitOfWork
      let inner: Effect.Success<ReturnType<typeof aConsumer>> | undefined
      const unit = Effect.gen(function* () {
        inner = yield* atomically(atomically(aConsumer()))
        assert.equal(yield* isKept(inner), true)
        return yield* Effect.fail("outer")
      })
      assert.equal(yield* Effect.flip(atomically(unit)), "outer")
      assert.equal(yield* isKept(inner!), false)
    })
  ),

  rule(
    "undoes only the inner unit when its failure is caught",
    Effect.gen(function* () {
      const { atomically } = yield* UnitOfWork
      let inner: Effect.Success<ReturnType<typeof aConsumer>> | undefined
      const failing = Effect.gen(function* () {
        inner = yield* aConsumer()
        return yield* Effect.fail("inner")
      })
      const unit = Effect.gen(function* () {
        const before = yield* aConsumer()
        assert.equal(yield* Effect.flip(atomically(failing)), "inner")
        assert.equal(yield* isKept(inner!), false)
        return [before, yield* aConsumer()]
      })
      for (const consumer of yield* atomically(unit)) assert.equal(yield* isKept(consumer), true)
      assert.equal(yield* isKept(inner!), false)
    })
  ),

  rule(
    "continues after a rejected write in an inner unit",
    Effect.gen(function* () {
      const { atomically } = yield* UnitOfWork
      const unit = Effect.gen(function* () {
        const first = yield* aConsumer({ name: "the first" })
        const again = yield* Effect.exit(atomically(aConsumer({ id: first.id, name: "the second" })))
        assert.equal(Exit.isFailure(again), true)
        return [first, yield* aConsumer()] as const
      })
      const [first, after] = yield* atomically(unit)
      const found = yield* (yield* AccountStore).findConsumer(first.id)
      assert.equal(Option.getOrThrow(found).name, "the first")
      assert.equal(yield* isKept(after), true)
    })
  ),

  rule(
    "runs concurrent inner units without undoing each other",
    Effect.gen(function* () {
      const { atomically } = yield* UnitOfWork
      const one = Effect.fnUntraced(function* (n: number) {
        const consumer = yield* aConsumer()
        yield* Effect.yieldNow
        if (n % 2 === 1) return yield* Effect.fail(consumer)
        return consumer
      })
      const results = yield* atomically(
        Effect.forEach(
          Array.from({ length: 10 }, (_, n) => n),
          (n) => Effect.result(Effect.catchIf(atomically(one(n)), isUnavailable, Effect.die)),
          {
            concurrency: "unbounded"
          }
        )
      )
      assert.equal(results.length, 10)
      for (const result of results) {
        if (result._tag === "Success") assert.equal(yield* isKept(result.success), true)
        else assert.equal(yield* isKept(result.failure), false)
      }
    })
  ),

  rule(
    "keeps the write of an inner unit when a concurrent one on the same row is undone",
    Effect.gen(function* () {
      const { atomically } = yield* UnitOfWork
      const keys = yield* KeyStore
      const owner = yield* aConsumer()
      const key = yield* aKey(owner.id)
      yield* keys.insert(key)
      const at = instant("2026-12-01T00:00:00.000Z")
      const revoke = keys.revoke(owner.id, key.id, at)
      const undone = Effect.ignore(
        atomically(revoke.pipe(Effect.andThen(Effect.yieldNow), Effect.andThen(Effect.fail("no"))))
      )
      yield* atomically(Effect.all([undone, atomically(revoke)], { concurrency: "unbounded" }))
      assert.deepEqual(yield* keys.ofOwner(owner.id, at), [{ ...key, revokedAt: at }])
    })
  ),

  rule(
    "runs many units concurrently, each all or nothing",
    Effect.gen(function* () {
      const { atomically } = yield* UnitOfWork
      const one = Effect.fnUntraced(function* (n: number) {
        const pair = [yield* aConsumer(), yield* aConsumer()] as const
        if (n % 3 === 0) return yield* Effect.fail(pair)
        return pair
      })
      const results = yield* Effect.forEach(
        Array.from({ length: 30 }, (_, n) => n),
        (n) => Effect.result(Effect.catchIf(atomically(one(n)), isUnavailable, Effect.die)),
        { concurrency: "unbounded" }
      )
      for (const result of results) {
        const pair = result._tag === "Success" ? result.success : result.failure
        for (const consumer of pair) assert.equal(yield* isKept(consumer), result._tag === "Success")
      }
      assert.equal(results.filter((result) => result._tag === "Failure").length, 10)
    })
  )
]

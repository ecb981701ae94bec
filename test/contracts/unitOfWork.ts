import { assert, it } from "@effect/vitest"
import { Cause, Deferred, Effect, Exit, Fiber, type Layer, Option } from "effect"
import { AccountStore } from "../../domain/accounts/AccountStore.ts"
import { KeyStore } from "../../domain/accounts/KeyStore.ts"
import { UnitOfWork } from "../../domain/shared/UnitOfWork.ts"
import { LIVE } from "../support/PostgresTest.ts"
import type { Ports } from "./ports.ts"
import { aConsumer, aKey, instant } from "./samples.ts"
import { StoreUnavailable } from "../../domain/shared/StoreUnavailable.ts"

const isKept = Effect.fnUntraced(function* (consumer: {
  readonly id: Parameters<AccountStore["Service"]["findConsumer"]>[0]
}) {
  return Option.isSome(yield* (yield* AccountStore).findConsumer(consumer.id))
})

/** None of these tests expects it. */
const isUnavailable = (error: unknown): error is StoreUnavailable => error instanceof StoreUnavailable

export const unitOfWorkContract = (name: string, ports: Layer.Layer<Ports>) =>
  it.layer(ports, LIVE)(`UnitOfWork over ${name}`, (it) => {
    it.effect("commits a unit that succeeds", () =>
      Effect.gen(function* () {
        const { atomically } = yield* UnitOfWork
        const [a, b] = yield* atomically(Effect.all([aConsumer(), aConsumer()]))
        assert.isTrue(yield* isKept(a))
        assert.isTrue(yield* isKept(b))
      })
    )

    it.effect("undoes a unit that fails, and returns its error", () =>
      Effect.gen(function* () {
        const { atomically } = yield* UnitOfWork
        const written: Array<Effect.Success<ReturnType<typeof aConsumer>>> = []
        const unit = Effect.gen(function* () {
          written.push(yield* aConsumer(), yield* aConsumer())
          return yield* Effect.fail("changed my mind")
        })
        assert.strictEqual(yield* Effect.flip(atomically(unit)), "changed my mind")
        assert.lengthOf(written, 2)
        for (const consumer of written) assert.isFalse(yield* isKept(consumer))
      })
    )

    it.effect("undoes a unit that dies", () =>
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
        assert.isTrue(Exit.isFailure(exit) && Cause.squash(exit.cause) === defect)
        assert.isFalse(yield* isKept(written!))
      })
    )

    it.effect("undoes a unit that is interrupted, and runs later ones", () =>
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
        assert.isFalse(yield* isKept(consumer))
        assert.isTrue(yield* isKept(yield* atomically(aConsumer())))
      })
    )

    it.effect("undoes an inner unit that succeeded when the outer one fails", () =>
      Effect.gen(function* () {
        const { atomically } = yield* UnitOfWork
        let inner: Effect.Success<ReturnType<typeof aConsumer>> | undefined
        const unit = Effect.gen(function* () {
          inner = yield* atomically(atomically(aConsumer()))
          assert.isTrue(yield* isKept(inner))
          return yield* Effect.fail("outer")
        })
        assert.strictEqual(yield* Effect.flip(atomically(unit)), "outer")
        assert.isFalse(yield* isKept(inner!))
      })
    )

    it.effect("undoes only the inner unit when its failure is caught", () =>
      Effect.gen(function* () {
        const { atomically } = yield* UnitOfWork
        let inner: Effect.Success<ReturnType<typeof aConsumer>> | undefined
        const failing = Effect.gen(function* () {
          inner = yield* aConsumer()
          return yield* Effect.fail("inner")
        })
        const unit = Effect.gen(function* () {
          const before = yield* aConsumer()
          assert.strictEqual(yield* Effect.flip(atomically(failing)), "inner")
          assert.isFalse(yield* isKept(inner!))
          return [before, yield* aConsumer()]
        })
        for (const consumer of yield* atomically(unit)) assert.isTrue(yield* isKept(consumer))
        assert.isFalse(yield* isKept(inner!))
      })
    )

    it.effect("continues after a rejected write in an inner unit", () =>
      Effect.gen(function* () {
        const { atomically } = yield* UnitOfWork
        const unit = Effect.gen(function* () {
          const first = yield* aConsumer({ name: "the first" })
          const again = yield* Effect.exit(atomically(aConsumer({ id: first.id, name: "the second" })))
          assert.isTrue(Exit.isFailure(again))
          return [first, yield* aConsumer()] as const
        })
        const [first, after] = yield* atomically(unit)
        const found = yield* (yield* AccountStore).findConsumer(first.id)
        assert.strictEqual(Option.getOrThrow(found).name, "the first")
        assert.isTrue(yield* isKept(after))
      })
    )

    it.effect("runs concurrent inner units without undoing each other", () =>
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
        assert.lengthOf(results, 10)
        for (const result of results) {
          if (result._tag === "Success") assert.isTrue(yield* isKept(result.success))
          else assert.isFalse(yield* isKept(result.failure))
        }
      })
    )

    it.effect("keeps the write of an inner unit when a concurrent one on the same row is undone", () =>
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
        assert.deepStrictEqual(yield* keys.ofOwner(owner.id, at), [{ ...key, revokedAt: at }])
      })
    )

    it.effect("runs many units concurrently, each all or nothing", () =>
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
          for (const consumer of pair) assert.strictEqual(yield* isKept(consumer), result._tag === "Success")
        }
        assert.lengthOf(
          results.filter((result) => result._tag === "Failure"),
          10
        )
      })
    )
  })

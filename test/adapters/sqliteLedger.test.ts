/**
 * The ledger in SQLite: the contracts of the testing kit, and what only a file and its one connection can break.
 */
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Layer, Result } from "effect"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import * as SqliteLedger from "../../adapters/sqlite/SqliteLedger.ts"
import { DRY_RUN } from "../../domain/ledger/Book.ts"
import { Ledger } from "../../domain/ledger/Ledger.ts"
import { LedgerStore } from "../../domain/ledger/LedgerStore.ts"
import { TransferId } from "../../domain/ledger/Transfer.ts"
import { MICROCENTS_MAX } from "../../domain/shared/Microcents.ts"
import { UnitOfWork } from "../../domain/shared/StoreUnavailable.ts"
import { ledgerBookContract } from "../../testing/contracts/LedgerBookContract.ts"
import {
  aConsumerId,
  atOnce,
  consumerWith,
  money,
  OPENED_AT,
  overStores,
  platformWith,
  uuid
} from "../../testing/contracts/LedgerSamples.ts"
import { ledgerStoreContract } from "../../testing/contracts/LedgerStoreContract.ts"
import { contractOver } from "../contracts/contractOver.ts"

/** Each build is a database of its own. */
const inMemory = Layer.orDie(SqliteLedger.layer(":memory:"))

contractOver("LedgerStore over SQLite", ledgerStoreContract, inMemory)
contractOver("One book, one mode over SQLite", ledgerBookContract, Layer.fresh(inMemory))

const temporaryFile = Effect.map(
  Effect.acquireRelease(
    Effect.promise(() => mkdtemp(join(tmpdir(), "agent-tool-billing-sqlite-"))),
    (folder) => Effect.promise(() => rm(folder, { recursive: true }))
  ),
  (folder) => join(folder, "ledger.sqlite")
)

/** A process that has opened the file. */
const opened = (file: string) => Layer.build(Layer.fresh(overStores.pipe(Layer.provideMerge(SqliteLedger.layer(file)))))

const withFile = <A, E>(body: (file: string) => Effect.Effect<A, E, never>) =>
  Effect.scoped(Effect.flatMap(temporaryFile, body))

const withLedger = <A, E>(body: Effect.Effect<A, E, Layer.Success<typeof overStores> | LedgerStore | UnitOfWork>) =>
  Effect.provide(body, overStores.pipe(Layer.provideMerge(Layer.fresh(inMemory))))

describe("A ledger in SQLite", () => {
  it.live("keeps every transfer and balance when it is closed and opened again", () =>
    withFile((file) =>
      Effect.gen(function* () {
        const load = Effect.gen(function* () {
          const ledger = yield* Ledger
          const consumerId = yield* consumerWith(MICROCENTS_MAX)
          return { consumerId, audit: yield* ledger.audit, trial: yield* ledger.trialBalance }
        })
        const first = yield* Effect.scoped(Effect.flatMap(opened(file), (ledger) => Effect.provide(load, ledger)))
        assert.strictEqual(first.audit.transfers, 2)
        yield* Effect.gen(function* () {
          const ledger = yield* Ledger
          assert.strictEqual((yield* ledger.wallet(first.consumerId)).available, MICROCENTS_MAX)
          assert.deepStrictEqual(yield* ledger.audit, first.audit)
          assert.deepStrictEqual(yield* ledger.trialBalance, first.trial)
        }).pipe(Effect.provide(yield* opened(file)))
      }).pipe(Effect.scoped)
    )
  )

  it.live("rejects a sum above 2^63 - 1, moves nothing of it, and counts exactly up to there", () =>
    withLedger(
      Effect.gen(function* () {
        const store = yield* LedgerStore
        const consumerId = yield* aConsumerId
        const postLoads = (loads: number, amount: bigint) =>
          Effect.gen(function* () {
            const leg = { kind: "adjustment", debit: "processor", credit: "wallet", consumerId } as const
            return yield* store.post({
              book: DRY_RUN,
              transferId: TransferId.make(yield* uuid),
              reference: yield* uuid,
              legs: Array.from({ length: loads }, () => ({ ...leg, amount: money(amount) })),
              effectiveAt: OPENED_AT,
              recordedAt: OPENED_AT
            })
          })
        // 1,024 times MICROCENTS_MAX is 2^63 - 1,024.
        yield* postLoads(1_000, MICROCENTS_MAX)
        yield* postLoads(24, MICROCENTS_MAX)
        assert.isTrue(Exit.isFailure(yield* Effect.exit(postLoads(1, 1_024n))))
        assert.strictEqual((yield* store.wallet(consumerId)).credits, 2n ** 63n - 1_024n)
        yield* postLoads(1, 1_023n)
        assert.strictEqual((yield* store.wallet(consumerId)).credits, 2n ** 63n - 1n)
        assert.deepStrictEqual((yield* store.audit).discrepancies, [])
      })
    )
  )

  it.live("rejects changes of a transfer and balances below zero in the database, and its audit finds others", () =>
    withFile((file) =>
      Effect.gen(function* () {
        const context = yield* opened(file)
        const consumerId = yield* Effect.provide(consumerWith(700), context)
        const database = new DatabaseSync(file)
        assert.throws(() => database.exec("UPDATE transfers SET amount = 1"), /never changed/u)
        assert.throws(() => database.exec("DELETE FROM transfers"), /never removed/u)
        assert.throws(() => database.exec("UPDATE balances SET debits = 701 WHERE account = 'wallet'"), /CHECK/u)
        assert.throws(() => database.exec("UPDATE balances SET credits = 1.5"), /REAL/u)
        database.exec("UPDATE balances SET credits = 701 WHERE account = 'wallet'")
        database.close()
        const { audit } = yield* Effect.provide(Ledger, context)
        assert.deepStrictEqual((yield* audit).discrepancies, [
          { account: "wallet", ownerId: consumerId, lot: undefined, figure: "credits", kept: 701n, recomputed: 700n }
        ])
      }).pipe(Effect.scoped)
    )
  )

  it.live("rejects a file of another version of the tables", () =>
    withFile((file) =>
      Effect.gen(function* () {
        const database = new DatabaseSync(file)
        database.exec("PRAGMA user_version = 7")
        database.close()
        const exit = yield* Effect.exit(Effect.scoped(opened(file)))
        assert.include(String(exit), "version 7")
      })
    )
  )
})

describe("A unit of work in SQLite", () => {
  const reading = Effect.flatMap(aConsumerId, (consumerId) =>
    Effect.flatMap(Ledger, (ledger) => ledger.wallet(consumerId))
  )

  it.live("has the database to itself: other fibers wait, and neither join it nor see what it may undo", () =>
    withLedger(
      Effect.gen(function* () {
        const ledger = yield* Ledger
        const { atomically } = yield* UnitOfWork
        const consumerId = yield* consumerWith(100)
        const [posted, mayEnd] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
        const load = (reference: string) => ledger.load({ consumerId, amount: money(10), reference })
        const unit = Effect.gen(function* () {
          yield* load("undone")
          yield* Deferred.succeed(posted, undefined)
          yield* Deferred.await(mayEnd)
          return yield* Effect.fail("no")
        })
        const failing = yield* Effect.forkChild(Effect.exit(atomically(unit)))
        yield* Deferred.await(posted)
        const outside = yield* Effect.forkChild(
          Effect.all([ledger.wallet(consumerId), load("kept"), ledger.byReference("undone")], { concurrency: 3 })
        )
        yield* Effect.yieldNow
        assert.isUndefined(outside.pollUnsafe())
        yield* Deferred.succeed(mayEnd, undefined)
        assert.isTrue(Exit.isFailure(yield* Fiber.join(failing)))
        const [wallet, , undone] = yield* Fiber.join(outside)
        assert.strictEqual(wallet.available % 10n, 0n)
        assert.deepStrictEqual(undone, [])
        assert.strictEqual((yield* ledger.wallet(consumerId)).available, 110n)
      })
    )
  )

  it.live("is undone when its fiber is interrupted, and gives the database to the next", () =>
    withLedger(
      Effect.gen(function* () {
        const ledger = yield* Ledger
        const { atomically } = yield* UnitOfWork
        const consumerId = yield* consumerWith(100)
        const posted = yield* Deferred.make<void>()
        const fiber = yield* Effect.forkChild(
          atomically(
            Effect.gen(function* () {
              yield* ledger.load({ consumerId, amount: money(1), reference: "interrupted" })
              yield* Deferred.succeed(posted, undefined)
              return yield* Effect.never
            })
          )
        )
        yield* Deferred.await(posted)
        yield* Fiber.interrupt(fiber)
        assert.strictEqual((yield* ledger.wallet(consumerId)).available, 100n)
      })
    )
  )

  it.live("keeps concurrent inner units apart: each failure undoes its own posting only", () =>
    withLedger(
      Effect.gen(function* () {
        const ledger = yield* Ledger
        const { atomically } = yield* UnitOfWork
        const consumerId = yield* consumerWith(1_000)
        yield* atomically(
          atOnce(20, (n) => {
            const load = ledger.load({ consumerId, amount: money(1), reference: `${consumerId} ${n}` })
            const inner = Effect.andThen(
              load,
              Effect.andThen(Effect.yieldNow, n % 2 === 0 ? Effect.fail("no") : Effect.void)
            )
            return n % 5 === 0 ? Effect.asVoid(load) : Effect.ignore(atomically(inner))
          })
        )
        // Of 20: four plain ones, and the inner units with an odd number that is no multiple of 5.
        assert.strictEqual((yield* ledger.wallet(consumerId)).available, 1_012n)
        assert.deepStrictEqual((yield* ledger.audit).discrepancies, [])
      })
    )
  )

  it.live("cannot be used after it has ended", () =>
    withLedger(
      Effect.gen(function* () {
        const { atomically } = yield* UnitOfWork
        const mayRead = yield* Deferred.make<void>()
        const late = yield* atomically(Effect.forkDetach(Effect.andThen(Deferred.await(mayRead), reading)))
        yield* Deferred.succeed(mayRead, undefined)
        const exit = yield* Effect.exit(Fiber.join(late))
        assert.include(String(exit), "has ended")
      })
    )
  )

  it.live("fails as busy while another connection writes, moves nothing, and succeeds afterwards", () =>
    withFile((file) =>
      Effect.gen(function* () {
        const context = yield* opened(file)
        const { load, wallet } = yield* Effect.provide(Ledger, context)
        const consumerId = yield* Effect.provide(consumerWith(100), context)
        const other = new DatabaseSync(file)
        other.exec("BEGIN IMMEDIATE")
        const again = load({ consumerId, amount: money(5), reference: "again" })
        const blocked = yield* Effect.result(again)
        assert.isTrue(Result.isFailure(blocked))
        assert.deepInclude(Result.isFailure(blocked) && blocked.failure, { _tag: "StoreUnavailable", reason: "busy" })
        other.exec("ROLLBACK")
        other.close()
        yield* again
        assert.strictEqual((yield* wallet(consumerId)).available, 105n)
      }).pipe(Effect.scoped)
    )
  )

  it.live("continues on two ledgers at once, each with units of its own", () =>
    Effect.gen(function* () {
      const [one, other] = [yield* opened(":memory:"), yield* opened(":memory:")]
      const consumerId = yield* Effect.provide(consumerWith(100), one)
      const inOther = Effect.provide(
        Effect.gen(function* () {
          yield* platformWith(7)
          return yield* (yield* Ledger).platformFunds
        }),
        other
      )
      const both = Effect.gen(function* () {
        const { atomically } = yield* UnitOfWork
        yield* (yield* Ledger).load({ consumerId, amount: money(1), reference: "undone" })
        const unit = yield* Effect.provide(UnitOfWork, other)
        const kept = yield* unit.atomically(
          Effect.andThen(inOther, Effect.provide((yield* Ledger).wallet(consumerId), one))
        )
        assert.strictEqual(kept.available, 101n)
        return yield* atomically(Effect.fail("no"))
      })
      yield* Effect.exit(
        Effect.provide(
          Effect.flatMap(UnitOfWork, ({ atomically }) => atomically(both)),
          one
        )
      )
      const { wallet } = yield* Effect.provide(Ledger, one)
      assert.strictEqual((yield* wallet(consumerId)).available, 100n)
      assert.strictEqual(
        yield* Effect.provide(
          Effect.flatMap(Ledger, ({ platformFunds }) => platformFunds),
          other
        ),
        7n
      )
    }).pipe(Effect.scoped)
  )
})

/**
 * One book, one mode, and the race for an empty database.
 */
import { assert, it } from "@effect/vitest"
import { Context, Effect, Layer, Option } from "effect"
import { Ledger } from "../../../domain/ledger/Ledger.ts"
import { LedgerStore } from "../../../domain/ledger/LedgerStore.ts"
import { UnitOfWork } from "../../../domain/shared/StoreUnavailable.ts"
import {
  aPosting,
  ledgerBookContract,
  LIVE_BOOK,
  OTHER_BOOKS
} from "../../../testing/contracts/ledger/LedgerBookContract.ts"
import { contractOver } from "../../contracts/contractOver.ts"
import { memoryLedgerPorts, postgresLedgerNode, postgresLedgerPorts } from "../../contracts/ledgerPorts.ts"
import { PostgresTest } from "../../support/servers/PostgresTest.ts"

contractOver("One book, one mode over memory", ledgerBookContract, Layer.fresh(memoryLedgerPorts))
contractOver("One book, one mode over PostgreSQL", ledgerBookContract, postgresLedgerPorts)

const NODES = [LIVE_BOOK, ...OTHER_BOOKS]

it.layer(PostgresTest.layer, { timeout: "120 seconds", excludeTestServices: true })(
  "Nodes on an empty database",
  (it) => {
    it.effect("race with their first postings; one mode and account wins, and only it posts", () =>
      Effect.scoped(
        Effect.gen(function* () {
          const nodes = yield* Effect.forEach([...NODES, ...NODES], (book) =>
            Effect.map(Layer.build(Layer.fresh(postgresLedgerNode)), (context) => ({ book, context }))
          )
          const outcomes = yield* Effect.forEach(
            nodes,
            ({ book, context }) =>
              Effect.gen(function* () {
                const store = yield* LedgerStore
                const { atomically } = yield* UnitOfWork
                const { posting } = yield* aPosting(book)
                // Two in one unit of work: the second one sees a book that is not committed yet.
                const { posting: next } = yield* aPosting(book)
                return yield* atomically(Effect.andThen(store.post(posting), store.post(next)))
              }).pipe(Effect.provide(context), Effect.result),
            { concurrency: "unbounded" }
          )
          const store = Context.get(nodes[0]!.context, LedgerStore)
          const winner = Option.getOrThrow(yield* store.book)
          for (const [n, { book }] of nodes.entries()) {
            const outcome = outcomes[n]!
            const own = book.mode === winner.mode && book.accountId === winner.accountId
            assert.strictEqual(outcome._tag, own ? "Success" : "Failure", JSON.stringify(book))
            if (outcome._tag === "Failure") assert.strictEqual(outcome.failure._tag, "WrongBook")
          }
          const { accounts } = yield* Context.get(nodes[0]!.context, Ledger).trialBalance
          assert.strictEqual(accounts.find(({ account }) => account === "wallet")?.credits, 4n * 500n)
        })
      )
    )
  }
)

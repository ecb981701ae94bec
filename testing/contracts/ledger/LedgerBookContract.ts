/**
 * One book, one mode: the first movement of money says whose money a ledger holds, and no other money is posted to it. These
 * rules need an empty ledger of their own, on which they run in this order.
 */
import { Effect, Option } from "effect"
import assert from "node:assert/strict"
import type { Book } from "../../../domain/ledger/Book.ts"
import { Ledger } from "../../../domain/ledger/Ledger.ts"
import { LedgerStore } from "../../../domain/ledger/LedgerStore.ts"
import { type Posting, TransferId } from "../../../domain/ledger/Transfer.ts"
import { UnitOfWork } from "../../../domain/shared/StoreUnavailable.ts"
import type { Contract } from "../shared/Contract.ts"
import { aConsumerId, ledgerRule, type LedgerStores, money, OPENED_AT, uuid } from "../shared/LedgerSamples.ts"

export const LIVE_BOOK: Book = { mode: "live", accountId: "acct_1" }
export const OTHER_BOOKS: ReadonlyArray<Book> = [
  { mode: "dry_run", accountId: "dry_run" },
  { mode: "test", accountId: "acct_1" },
  { mode: "live", accountId: "acct_2" }
]

export const aPosting = Effect.fnUntraced(function* (book: Book) {
  const consumerId = yield* aConsumerId
  const posting: Posting = {
    book,
    transferId: TransferId.make(yield* uuid),
    reference: `load:${yield* uuid}`,
    legs: [{ kind: "load", debit: "processor", credit: "wallet", amount: money(500), consumerId }],
    effectiveAt: OPENED_AT,
    recordedAt: OPENED_AT
  }
  return { posting, consumerId }
})

export const ledgerBookContract: Contract<LedgerStores> = [
  ledgerRule(
    "is opened by the first committed posting, not by one that is undone",
    Effect.gen(function* () {
      const store = yield* LedgerStore
      const { atomically } = yield* UnitOfWork
      assert.deepEqual(yield* store.book, Option.none())
      for (const book of OTHER_BOOKS) {
        const { posting } = yield* aPosting(book)
        yield* Effect.exit(atomically(Effect.andThen(store.post(posting), Effect.die("undone"))))
        assert.deepEqual(yield* store.book, Option.none())
      }
      yield* store.post((yield* aPosting(LIVE_BOOK)).posting)
      assert.deepEqual(yield* store.book, Option.some(LIVE_BOOK))
    })
  ),

  ledgerRule(
    "rejects every posting of another mode or account",
    Effect.gen(function* () {
      const store = yield* LedgerStore
      for (const book of OTHER_BOOKS) {
        const { consumerId, posting } = yield* aPosting(book)
        const error = yield* Effect.flip(store.post(posting))
        assert.equal(error._tag, "WrongBook")
        assert.ok(error.message.includes("live money of the payment processor (account acct_1)"), error.message)
        assert.ok(error.message.includes("this node is configured for"), error.message)
        assert.equal((yield* store.wallet(consumerId)).credits, 0n)
      }
      const { consumerId, posting } = yield* aPosting(LIVE_BOOK)
      yield* store.post(posting)
      assert.equal((yield* store.wallet(consumerId)).credits, 500n)
      // A ledger without a payment gateway moves a dry run's money.
      const load = (yield* Ledger).load({ consumerId, amount: money(1), reference: `load:${consumerId}` })
      const error = yield* Effect.flip(load)
      assert.equal(error._tag === "StoreUnavailable" && error.reason, "book_unconfirmed")
    })
  )
]

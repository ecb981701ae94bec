/**
 * One book, one mode: the first movement of money says whose money a ledger holds, and no other money is posted to it.
 */
import { assert, it } from "@effect/vitest"
import { Effect, type Layer, Option } from "effect"
import type { Book } from "../../domain/ledger/Book.ts"
import { Ledger } from "../../domain/ledger/Ledger.ts"
import { LedgerStore } from "../../domain/ledger/LedgerStore.ts"
import { type Posting, TransferId } from "../../domain/ledger/Transfer.ts"
import { Entropy } from "../../domain/shared/Entropy.ts"
import { UnitOfWork } from "../../domain/shared/UnitOfWork.ts"
import { LIVE } from "../support/PostgresTest.ts"
import type { LedgerPorts } from "./ledgerPorts.ts"
import { aConsumerId, money, OPENED_AT } from "./ledgerSamples.ts"

export const LIVE_BOOK: Book = { mode: "live", accountId: "acct_1" }
export const OTHER_BOOKS: ReadonlyArray<Book> = [
  { mode: "dry_run", accountId: "dry_run" },
  { mode: "test", accountId: "acct_1" },
  { mode: "live", accountId: "acct_2" }
]

export const aPosting = Effect.fnUntraced(function* (book: Book) {
  const { uuid } = yield* Entropy
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

/** On a ledger of its own. */
export const bookContract = (name: string, ports: Layer.Layer<LedgerPorts>) =>
  it.layer(ports, LIVE)(`One book, one mode over ${name}`, (it) => {
    it.effect("is opened by the first committed posting, not by one that is undone", () =>
      Effect.gen(function* () {
        const store = yield* LedgerStore
        const { atomically } = yield* UnitOfWork
        assert.isTrue(Option.isNone(yield* store.book))
        for (const book of OTHER_BOOKS) {
          const { posting } = yield* aPosting(book)
          yield* Effect.exit(atomically(Effect.andThen(store.post(posting), Effect.die("undone"))))
          assert.isTrue(Option.isNone(yield* store.book))
        }
        yield* store.post((yield* aPosting(LIVE_BOOK)).posting)
        assert.deepStrictEqual(yield* store.book, Option.some(LIVE_BOOK))
      })
    )

    it.effect("rejects every posting of another mode or account", () =>
      Effect.gen(function* () {
        const store = yield* LedgerStore
        for (const book of OTHER_BOOKS) {
          const { consumerId, posting } = yield* aPosting(book)
          const error = yield* Effect.flip(store.post(posting))
          assert.strictEqual(error._tag, "WrongBook")
          assert.include(error.message, "live money of the payment processor (account acct_1)")
          assert.include(error.message, "PAYMENTS=stripe")
          assert.strictEqual((yield* store.wallet(consumerId)).credits, 0n)
        }
        const { consumerId, posting } = yield* aPosting(LIVE_BOOK)
        yield* store.post(posting)
        assert.strictEqual((yield* store.wallet(consumerId)).credits, 500n)
        // A ledger without a payment gateway moves a dry run's money.
        const dry = yield* Effect.flip(
          (yield* Ledger).load({ consumerId, amount: money(1), reference: `load:${consumerId}` })
        )
        assert.deepInclude(dry, { _tag: "StoreUnavailable", reason: "book_unconfirmed" })
      })
    )
  })

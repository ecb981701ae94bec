/**
 * What a PayoutStore must do.
 */
import { DateTime, Effect, Option } from "effect"
import assert from "node:assert/strict"
import { randomUUID } from "node:crypto"
import type { AccountStore } from "../../../domain/accounts/Account.ts"
import { type Payout, PayoutStore } from "../../../domain/earnings/PayoutStore.ts"
import { PayoutId } from "../../../domain/shared/Ids.ts"
import type { UnitOfWork } from "../../../domain/shared/StoreUnavailable.ts"
import { aProvider } from "../shared/AccountSamples.ts"
import { type Contract, rule } from "../shared/Contract.ts"
import { atOnce } from "../shared/LedgerSamples.ts"
import { everyItem, FORGED } from "../shared/ListPages.ts"
import { changesOnce } from "../shared/RowLock.ts"

const at = (minute: number) => DateTime.makeUnsafe(Date.UTC(2026, 10, 20, 12, minute))

const aPayout = Effect.fnUntraced(function* (changes: Partial<Payout> = {}) {
  const payout: Payout = {
    id: PayoutId.make(randomUUID()),
    providerId: (yield* aProvider()).id,
    accountId: "acct_1",
    amountCents: 1_000,
    state: "requested",
    transferId: undefined,
    failure: undefined,
    reversedCents: 0,
    attempts: 0,
    nextAttemptAt: at(0),
    createdAt: at(0),
    paidAt: undefined,
    ...changes
  }
  return payout
})

export const payoutStoreContract: Contract<AccountStore | PayoutStore | UnitOfWork> = [
  rule(
    "stores one open payout per provider under concurrency",
    Effect.gen(function* () {
      const store = yield* PayoutStore
      const payout = yield* aPayout()
      const kept = yield* atOnce(16, () => store.insert({ ...payout, id: PayoutId.make(randomUUID()) }))
      assert.equal(kept.filter((one) => one).length, 1)
      const open = Option.getOrThrow(yield* store.openOf(payout.providerId))
      assert.equal(yield* store.insert(payout), false)
      yield* store.update({ ...open, state: "failed", failure: "refused" })
      assert.deepEqual(yield* store.openOf(payout.providerId), Option.none())
      assert.equal(yield* store.insert(payout), true)
      assert.equal(yield* store.insert({ ...open, state: "requested" }), false, "an id is used once")
    })
  ),

  rule(
    "lists payouts of all providers newest first, by state and provider, page by page",
    Effect.gen(function* () {
      const store = yield* PayoutStore
      // Two of the same moment, later than those of other rules.
      const [older, same, newest] = [
        yield* aPayout({ createdAt: at(100) }),
        yield* aPayout({ createdAt: at(101) }),
        yield* aPayout({ createdAt: at(101) })
      ]
      yield* Effect.forEach([older, same, newest], store.insert)
      const failed: Payout = { ...older, state: "failed", failure: "rejected" }
      yield* store.update(failed)
      const every = { state: undefined, providerId: undefined }
      const listed = yield* everyItem((page) => store.list(every, page))
      const twins = [same, newest].toSorted((a, b) => (a.id < b.id ? 1 : -1))
      assert.deepEqual(listed.slice(0, 3), [...twins, failed])
      const only = yield* everyItem((page) => store.list({ state: "failed", providerId: older.providerId }, page))
      assert.deepEqual(only, [failed])
      const other = { state: "paid", providerId: older.providerId } as const
      assert.deepEqual(yield* everyItem((page) => store.list(other, page)), [])
      for (const page of FORGED) yield* store.list(every, page)
    })
  ),

  rule(
    "locks a payout for one unit of work at a time",
    Effect.gen(function* () {
      const store = yield* PayoutStore
      const payout = yield* aPayout()
      yield* store.insert(payout)
      yield* changesOnce(
        Effect.map(store.lock(payout.id), Option.getOrThrow),
        Effect.fnUntraced(function* (locked) {
          if (locked.state === "paid") return false
          yield* store.update({ ...locked, state: "paid" })
          return true
        })
      )
    })
  ),

  rule(
    "returns a payout as stored, in every state",
    Effect.gen(function* () {
      const store = yield* PayoutStore
      const payout = yield* aPayout()
      yield* store.insert(payout)
      const paid: Payout = {
        ...payout,
        state: "paid",
        transferId: "tr_1",
        attempts: 2,
        paidAt: at(3),
        reversedCents: 7
      }
      yield* store.update(paid)
      assert.deepEqual(yield* store.find(payout.id), Option.some(paid))
      assert.deepEqual(yield* store.history(payout.providerId, 10), [paid])
      assert.deepEqual(yield* store.history((yield* aPayout()).providerId, 10), [])
    })
  ),

  rule(
    "lists due payouts, oldest first, without completed ones",
    Effect.gen(function* () {
      const store = yield* PayoutStore
      const late = yield* aPayout({ nextAttemptAt: at(2), state: "transferring" })
      const early = yield* aPayout({ nextAttemptAt: at(1) })
      const others = [yield* aPayout({ nextAttemptAt: at(9) }), yield* aPayout({ state: "paid" })]
      for (const payout of [late, early, ...others]) yield* store.insert(payout)
      const all = [late, early, ...others].map(({ id }) => id)
      const due = (yield* store.due(at(5), 100)).filter((id) => all.includes(id))
      assert.deepEqual(due, [early.id, late.id])
    })
  )
]

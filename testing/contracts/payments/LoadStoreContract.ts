/**
 * What a LoadStore must do.
 */
import { DateTime, Effect, Option } from "effect"
import assert from "node:assert/strict"
import { randomUUID } from "node:crypto"
import type { AccountStore } from "../../../domain/accounts/Account.ts"
import { type Load, LoadStore } from "../../../domain/payments/Loads.ts"
import { LoadId } from "../../../domain/shared/Ids.ts"
import { UnitOfWork } from "../../../domain/shared/StoreUnavailable.ts"
import { aConsumer } from "../shared/AccountSamples.ts"
import { type Contract, rule } from "../shared/Contract.ts"
import { atOnce } from "../shared/LedgerSamples.ts"
import { changesOnce } from "../shared/RowLock.ts"

const at = (minute: number) => DateTime.makeUnsafe(Date.UTC(2026, 10, 20, 12, minute))

const aLoad = Effect.fnUntraced(function* (changes: Partial<Load> = {}) {
  const load: Load = {
    id: LoadId.make(randomUUID()),
    consumerId: (yield* aConsumer()).id,
    amountCents: 500,
    state: "opening",
    sessionId: undefined,
    checkoutUrl: undefined,
    paymentId: undefined,
    feeCents: undefined,
    createdAt: at(0),
    paidAt: undefined,
    updatedAt: at(0),
    ...changes
  }
  return load
})

export const loadStoreContract: Contract<AccountStore | LoadStore | UnitOfWork> = [
  rule(
    "stores a load once per ID",
    Effect.gen(function* () {
      const store = yield* LoadStore
      const load = yield* aLoad()
      const kept = yield* atOnce(16, () => store.insert(load))
      assert.equal(kept.filter((one) => one).length, 1)
      assert.equal(yield* store.insert({ ...load, amountCents: 600 }), false)
      assert.deepEqual(yield* store.find(load.id), Option.some(load))
      const paid: Load = {
        ...load,
        state: "paid",
        sessionId: `cs_${load.id}`,
        paymentId: `pi_${load.id}`,
        feeCents: 45,
        paidAt: at(3)
      }
      yield* store.update(paid)
      assert.deepEqual(yield* store.findByPayment(`pi_${load.id}`), Option.some(paid))
      assert.deepEqual(yield* store.findByPayment("pi_unknown"), Option.none())
    })
  ),

  rule(
    "counts a consumer's loads that may still be paid",
    Effect.gen(function* () {
      const store = yield* LoadStore
      const one = yield* aLoad()
      const { consumerId } = one
      for (const state of ["open", "paid", "expired", "failed"] as const) {
        yield* store.insert(yield* aLoad({ consumerId, state }))
      }
      yield* store.insert(one)
      yield* store.insert(yield* aLoad())
      assert.equal(yield* store.unsettledOf(consumerId), 2)
      yield* store.update({ ...one, state: "paid" })
      assert.equal(yield* store.unsettledOf(consumerId), 1)
      assert.equal(yield* store.unsettledOf((yield* aConsumer()).id), 0)
    })
  ),

  rule(
    "finds a consumer's loads that are pending or paid since a time",
    Effect.gen(function* () {
      const store = yield* LoadStore
      const pending = yield* aLoad()
      const { consumerId } = pending
      const open = yield* aLoad({ consumerId, state: "open" })
      const recent = yield* aLoad({ consumerId, state: "paid", paidAt: at(6) })
      const others = [
        yield* aLoad({ consumerId, state: "paid", paidAt: at(5) }),
        yield* aLoad({ consumerId, state: "expired" }),
        yield* aLoad()
      ]
      for (const load of [pending, open, recent, ...others]) yield* store.insert(load)
      const found = (yield* store.pendingOrPaidSince(consumerId, at(5))).map(({ id }) => id)
      assert.deepEqual([...found].toSorted(), [pending.id, open.id, recent.id].toSorted())
    })
  ),

  rule(
    "lists unsettled loads whose check is due, longest waiting first, up to a limit",
    Effect.gen(function* () {
      const store = yield* LoadStore
      const [late, early] = [yield* aLoad({ updatedAt: at(2), state: "open" }), yield* aLoad({ updatedAt: at(1) })]
      const [dayOld, rarely] = [DateTime.subtract(at(5), { days: 1 }), DateTime.subtract(at(5), { hours: 3 })]
      const rare = yield* aLoad({ createdAt: dayOld, updatedAt: rarely, state: "open" })
      const others = [
        yield* aLoad({ state: "paid" }),
        yield* aLoad({ state: "failed" }),
        yield* aLoad({ updatedAt: at(9) }),
        // Checked less than a minute, and less than an eighth of its age ago.
        yield* aLoad({ updatedAt: DateTime.add(at(4), { seconds: 1 }) }),
        yield* aLoad({ createdAt: dayOld, updatedAt: DateTime.add(rarely, { seconds: 1 }) })
      ]
      for (const load of [late, early, rare, ...others]) yield* store.insert(load)
      const mine = (loads: ReadonlyArray<Load>) =>
        loads.map(({ id }) => id).filter((id) => [late, early, rare, ...others].some((load) => load.id === id))
      assert.deepEqual(mine(yield* store.unsettled(at(5), 100)), [rare.id, early.id, late.id])
      assert.equal((yield* store.unsettled(at(5), 1)).length, 1)
    })
  ),

  rule(
    "gives an event to one of several claims, and again after a failed unit of work",
    Effect.gen(function* () {
      const store = yield* LoadStore
      const { atomically } = yield* UnitOfWork
      const [event, undone] = [`evt_${randomUUID()}`, `evt_${randomUUID()}`]
      const claimed = yield* atOnce(16, () => atomically(store.claimEvent(event, at(0))))
      assert.equal(claimed.filter((one) => one).length, 1)
      yield* Effect.exit(atomically(Effect.andThen(store.claimEvent(undone, at(0)), Effect.die("no"))))
      assert.equal(yield* store.claimEvent(undone, at(0)), true)
      assert.ok((yield* store.forgetEvents(at(1), 100)) >= 2)
      assert.equal(yield* store.claimEvent(event, at(2)), true)
    })
  ),

  rule(
    "locks a load for one unit of work at a time",
    Effect.gen(function* () {
      const store = yield* LoadStore
      const load = yield* aLoad()
      yield* store.insert(load)
      yield* changesOnce(
        Effect.map(store.lock(load.id), Option.getOrThrow),
        Effect.fnUntraced(function* (locked) {
          if (locked.state === "paid") return false
          yield* store.update({ ...locked, state: "paid" })
          return true
        })
      )
    })
  ),

  rule(
    "stores the state of a reversal",
    Effect.gen(function* () {
      const store = yield* LoadStore
      const load = yield* aLoad()
      yield* store.insert(load)
      const reversal = { id: `re_${load.id}`, loadId: load.id, amountCents: 120, state: "taken" as const }
      assert.deepEqual(yield* store.reversal(reversal.id), Option.none())
      for (const state of ["taken", "returned"] as const) {
        yield* store.putReversal({ ...reversal, state })
        assert.deepEqual(yield* store.reversal(reversal.id), Option.some({ ...reversal, state }))
      }
    })
  )
]

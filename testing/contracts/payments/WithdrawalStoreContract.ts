/**
 * What a WithdrawalStore and a ChargebackStore must do, with the loads that they belong to.
 */
import { DateTime, Effect, Option } from "effect"
import assert from "node:assert/strict"
import { randomUUID } from "node:crypto"
import type { AccountStore } from "../../../domain/accounts/Account.ts"
import { type Chargeback, ChargebackStore } from "../../../domain/payments/AccountFreezes.ts"
import { type Load, LoadStore } from "../../../domain/payments/Loads.ts"
import { type Withdrawal, type WithdrawalPart, WithdrawalStore } from "../../../domain/payments/Withdrawals.ts"
import { LoadId, WithdrawalId, WithdrawalPartId } from "../../../domain/shared/Ids.ts"
import type { UnitOfWork } from "../../../domain/shared/StoreUnavailable.ts"
import { aConsumer } from "../shared/AccountSamples.ts"
import { type Contract, rule } from "../shared/Contract.ts"
import { atOnce } from "../shared/LedgerSamples.ts"
import { everyItem, FORGED } from "../shared/ListPages.ts"
import { changesOnce } from "../shared/RowLock.ts"

const at = (minute: number) => DateTime.makeUnsafe(Date.UTC(2026, 10, 20, 12, minute))

const aPaidLoad = Effect.fnUntraced(function* (changes: Partial<Load> = {}) {
  const id = LoadId.make(randomUUID())
  const load: Load = {
    id,
    consumerId: changes.consumerId ?? (yield* aConsumer()).id,
    amountCents: 500,
    state: "paid",
    sessionId: undefined,
    checkoutUrl: undefined,
    paymentId: `pi_${id}`,
    feeCents: undefined,
    createdAt: at(0),
    paidAt: at(1),
    updatedAt: at(1),
    ...changes
  }
  yield* (yield* LoadStore).insert(load)
  return load
})

const aWithdrawal = Effect.fnUntraced(function* (loads: ReadonlyArray<Load>, changes: Partial<WithdrawalPart> = {}) {
  const id = WithdrawalId.make(randomUUID())
  const { consumerId } = loads[0]!
  const withdrawal: Withdrawal = {
    id,
    consumerId,
    amountCents: loads.length * 100,
    createdAt: at(2),
    parts: loads.map((load) => ({
      id: WithdrawalPartId.make(randomUUID()),
      withdrawalId: id,
      consumerId,
      loadId: load.id,
      paymentId: load.paymentId!,
      amountCents: 100,
      feeCents: 6,
      state: "requested",
      refundId: undefined,
      failure: undefined,
      attempts: 0,
      nextAttemptAt: at(3),
      ...changes
    }))
  }
  const stored = yield* (yield* WithdrawalStore).insert(withdrawal)
  assert.equal(stored, true)
  return withdrawal
})

export const withdrawalStoreContract: Contract<
  AccountStore | ChargebackStore | LoadStore | UnitOfWork | WithdrawalStore
> = [
  rule(
    "stores a withdrawal with its parts, once per ID, and lists the newest first",
    Effect.gen(function* () {
      const store = yield* WithdrawalStore
      const load = yield* aPaidLoad()
      const other = yield* aPaidLoad({ consumerId: load.consumerId })
      const withdrawal = yield* aWithdrawal([load, other])
      assert.deepEqual(yield* store.find(withdrawal.id), Option.some(withdrawal))
      const again = yield* atOnce(8, () => store.insert({ ...withdrawal, amountCents: 7 }))
      assert.equal(
        again.every((stored) => !stored),
        true
      )
      const late = {
        ...(yield* aWithdrawal([load])),
        createdAt: at(9),
        id: WithdrawalId.make(randomUUID()),
        parts: []
      }
      yield* store.insert(late)
      assert.equal((yield* store.list(load.consumerId, 1))[0]!.id, late.id)
      assert.equal((yield* store.list(load.consumerId, 10)).length, 3)
      assert.deepEqual(yield* store.list((yield* aPaidLoad()).consumerId, 10), [])
    })
  ),

  rule(
    "totals the parts of each load in every state but failed and returned",
    Effect.gen(function* () {
      const store = yield* WithdrawalStore
      const load = yield* aPaidLoad()
      const states = ["paid", "failed", "returned", "requested", "refunding"] as const
      const openStates: ReadonlySet<string> = new Set(["requested", "refunding"])
      assert.equal(yield* store.hasOpen(load.consumerId), false)
      for (const state of states) {
        const { parts } = yield* aWithdrawal([load])
        const changed: WithdrawalPart = {
          ...parts[0]!,
          state,
          refundId: `re_${parts[0]!.id}`,
          failure: state === "failed" ? "no" : undefined,
          attempts: 2,
          nextAttemptAt: at(5)
        }
        assert.equal(yield* store.hasOpen(load.consumerId), true)
        yield* store.updatePart(changed)
        assert.equal(yield* store.hasOpen(load.consumerId), openStates.has(state))
        assert.deepEqual(yield* store.lockPart(changed.id), Option.some(changed))
      }
      assert.deepEqual([...(yield* store.withdrawnCents(load.consumerId))], [[load.id, 300]])
      assert.deepEqual(yield* store.lockPart(WithdrawalPartId.make(randomUUID())), Option.none())
    })
  ),

  rule(
    "locks a part for one unit of work at a time",
    Effect.gen(function* () {
      const store = yield* WithdrawalStore
      const { parts } = yield* aWithdrawal([yield* aPaidLoad()])
      yield* changesOnce(
        Effect.map(store.lockPart(parts[0]!.id), Option.getOrThrow),
        Effect.fnUntraced(function* (locked) {
          if (locked.state === "paid") return false
          yield* store.updatePart({ ...locked, state: "paid" })
          return true
        })
      )
    })
  ),

  rule(
    "lists due parts, oldest first, until they are completed",
    Effect.gen(function* () {
      const store = yield* WithdrawalStore
      const load = yield* aPaidLoad()
      const [late, early, future, ended] = [
        yield* aWithdrawal([load], { nextAttemptAt: at(2), state: "refunding" }),
        yield* aWithdrawal([load], { nextAttemptAt: at(1) }),
        yield* aWithdrawal([load], { nextAttemptAt: at(9) }),
        yield* aWithdrawal([load], { nextAttemptAt: at(1), state: "paid" })
      ]
      const ids = [late, early, future, ended].map(({ parts }) => parts[0]!.id)
      const due = (yield* store.due(at(5), 1_000)).filter((id) => ids.includes(id))
      assert.deepEqual(due, [ids[1], ids[0]])
    })
  ),

  rule(
    "lists the paid loads of a consumer, newest first, with their refunds",
    Effect.gen(function* () {
      const loads = yield* LoadStore
      const first = yield* aPaidLoad()
      const { consumerId } = first
      const second = yield* aPaidLoad({ consumerId, createdAt: at(4), feeCents: 12 })
      yield* aPaidLoad({ consumerId, state: "open", paidAt: undefined, paymentId: undefined })
      for (const [amountCents, state] of [
        [70, "taken"],
        [30, "taken"],
        [90, "returned"]
      ] as const) {
        yield* loads.putReversal({ id: `re_${randomUUID()}`, loadId: first.id, amountCents, state })
      }
      assert.deepEqual(yield* loads.paidOf(consumerId, 10), [
        { load: second, refundedCents: 0 },
        { load: first, refundedCents: 100 }
      ])
      const waiting = (yield* loads.withoutFee(at(1), 1_000)).map(({ id }) => id)
      assert.equal(waiting.includes(first.id) && !waiting.includes(second.id), true)
      assert.ok(!(yield* loads.withoutFee(at(2), 1_000)).map(({ id }) => id).includes(first.id))
    })
  ),

  rule(
    "lists chargebacks as stored and updated, oldest first",
    Effect.gen(function* () {
      const store = yield* ChargebackStore
      const load = yield* aPaidLoad()
      const chargeback: Chargeback = {
        id: `dp_${load.id}`,
        loadId: load.id,
        consumerId: load.consumerId,
        amountCents: 500,
        state: "open",
        funds: "none",
        released: false,
        openedAt: at(2),
        updatedAt: at(2)
      }
      assert.deepEqual(yield* store.find(chargeback.id), Option.none())
      yield* store.put({ ...chargeback, id: `dp_2_${load.id}`, openedAt: at(3) })
      yield* store.put(chargeback)
      const lost: Chargeback = { ...chargeback, state: "lost", funds: "withdrawn", released: true, updatedAt: at(7) }
      yield* store.put(lost)
      assert.deepEqual(yield* store.find(chargeback.id), Option.some(lost))
      const all = yield* store.ofConsumer(load.consumerId)
      assert.deepEqual(
        all.map(({ id }) => id),
        [chargeback.id, `dp_2_${load.id}`]
      )
      const ours = new Set(all.map(({ id }) => id))
      const listed = yield* everyItem((page) => store.list(page))
      assert.deepEqual(
        listed.filter(({ id }) => ours.has(id)),
        all.toReversed()
      )
      for (const page of FORGED) yield* store.list(page)
    })
  )
]

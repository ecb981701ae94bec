/**
 * Contract of stores of loads, payees and payouts.
 */
import { assert, it } from "@effect/vitest"
import { DateTime, Effect, Layer, Option } from "effect"
import { randomUUID } from "node:crypto"
import * as NodeEntropy from "../../adapters/crypto/NodeEntropy.ts"
import * as PostgresAccountStore from "../../adapters/sql/accounts/PostgresAccountStore.ts"
import * as PostgresLoadStore from "../../adapters/sql/payments/PostgresLoadStore.ts"
import * as PostgresPayeeStore from "../../adapters/sql/payouts/PostgresPayeeStore.ts"
import * as PostgresPayoutStore from "../../adapters/sql/payouts/PostgresPayoutStore.ts"
import * as PostgresUnitOfWork from "../../adapters/sql/shared/PostgresUnitOfWork.ts"
import type { AccountStore } from "../../domain/accounts/AccountStore.ts"
import { type Load, LoadStore } from "../../domain/payments/LoadStore.ts"
import { PayeeStore } from "../../domain/payouts/PayeeStore.ts"
import { type Payout, PayoutStore } from "../../domain/payouts/PayoutStore.ts"
import type { Entropy } from "../../domain/shared/Entropy.ts"
import { LoadId, PayoutId } from "../../domain/shared/Ids.ts"
import { UnitOfWork } from "../../domain/shared/UnitOfWork.ts"
import { memoryStores } from "../../src/layers/MemoryStores.ts"
import { LIVE, PostgresTest } from "../support/PostgresTest.ts"
import { aConsumer, aProvider } from "./samples.ts"
import { atOnce } from "./ledgerSamples.ts"
import { changesOnce } from "./rowLock.ts"

type Ports = AccountStore | Entropy | LoadStore | PayeeStore | PayoutStore | UnitOfWork

const memoryPorts: Layer.Layer<Ports> = Layer.mergeAll(memoryStores, NodeEntropy.layer)
const postgresPorts = Layer.mergeAll(
  PostgresAccountStore.layer,
  PostgresLoadStore.layer,
  PostgresPayeeStore.layer,
  PostgresPayoutStore.layer,
  PostgresUnitOfWork.layer,
  NodeEntropy.layer
).pipe(Layer.provideMerge(PostgresTest.layer))

export const everyMoney: ReadonlyArray<readonly [name: string, ports: Layer.Layer<Ports>]> = [
  ["memory", memoryPorts],
  ["PostgreSQL", postgresPorts]
]

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

export const loadStoreContract = (name: string, ports: Layer.Layer<Ports>) =>
  it.layer(ports, LIVE)(`LoadStore over ${name}`, (it) => {
    it.effect("stores a load once per ID", () =>
      Effect.gen(function* () {
        const store = yield* LoadStore
        const load = yield* aLoad()
        const kept = yield* atOnce(16, () => store.insert(load))
        assert.strictEqual(kept.filter((one) => one).length, 1)
        assert.isFalse(yield* store.insert({ ...load, amountCents: 600 }))
        assert.deepStrictEqual(yield* store.find(load.id), Option.some(load))
        const paid: Load = {
          ...load,
          state: "paid",
          sessionId: `cs_${load.id}`,
          paymentId: `pi_${load.id}`,
          feeCents: 45,
          paidAt: at(3)
        }
        yield* store.update(paid)
        assert.deepStrictEqual(yield* store.findByPayment(`pi_${load.id}`), Option.some(paid))
        assert.isTrue(Option.isNone(yield* store.findByPayment("pi_unknown")))
      })
    )

    it.effect("counts a consumer's loads that may still be paid", () =>
      Effect.gen(function* () {
        const store = yield* LoadStore
        const one = yield* aLoad()
        const { consumerId } = one
        for (const state of ["open", "paid", "expired", "failed"] as const) {
          yield* store.insert(yield* aLoad({ consumerId, state }))
        }
        yield* store.insert(one)
        yield* store.insert(yield* aLoad())
        assert.strictEqual(yield* store.unsettledOf(consumerId), 2)
        yield* store.update({ ...one, state: "paid" })
        assert.strictEqual(yield* store.unsettledOf(consumerId), 1)
        assert.strictEqual(yield* store.unsettledOf((yield* aConsumer()).id), 0)
      })
    )

    it.effect("finds a consumer's loads that are pending or paid since a time", () =>
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
        assert.sameMembers([...found], [pending.id, open.id, recent.id])
      })
    )

    it.effect("lists unsettled loads, oldest first, up to a limit", () =>
      Effect.gen(function* () {
        const store = yield* LoadStore
        const [late, early] = [yield* aLoad({ updatedAt: at(2), state: "open" }), yield* aLoad({ updatedAt: at(1) })]
        const others = [
          yield* aLoad({ state: "paid" }),
          yield* aLoad({ state: "failed" }),
          yield* aLoad({ updatedAt: at(9) })
        ]
        for (const load of [late, early, ...others]) yield* store.insert(load)
        const mine = (loads: ReadonlyArray<Load>) =>
          loads.map(({ id }) => id).filter((id) => [late, early, ...others].some((load) => load.id === id))
        assert.deepStrictEqual(mine(yield* store.unsettled(at(5), 100)), [early.id, late.id])
        assert.strictEqual((yield* store.unsettled(at(5), 1)).length, 1)
      })
    )

    it.effect("gives an event to one of several claims, and again after a failed unit of work", () =>
      Effect.gen(function* () {
        const store = yield* LoadStore
        const { atomically } = yield* UnitOfWork
        const [event, undone] = [`evt_${randomUUID()}`, `evt_${randomUUID()}`]
        const claimed = yield* atOnce(16, () => atomically(store.claimEvent(event, at(0))))
        assert.strictEqual(claimed.filter((one) => one).length, 1)
        yield* Effect.exit(atomically(Effect.andThen(store.claimEvent(undone, at(0)), Effect.die("no"))))
        assert.isTrue(yield* store.claimEvent(undone, at(0)))
        assert.isAtLeast(yield* store.forgetEvents(at(1), 100), 2)
        assert.isTrue(yield* store.claimEvent(event, at(2)))
      })
    )

    it.effect("locks a load for one unit of work at a time", () =>
      Effect.gen(function* () {
        const store = yield* LoadStore
        const load = yield* aLoad()
        yield* store.insert(load)
        yield* changesOnce(
          Effect.gen(function* () {
            const locked = Option.getOrThrow(yield* store.lock(load.id))
            if (locked.state === "paid") return false
            yield* store.update({ ...locked, state: "paid" })
            return true
          })
        )
      })
    )

    it.effect("stores the state of a reversal", () =>
      Effect.gen(function* () {
        const store = yield* LoadStore
        const load = yield* aLoad()
        yield* store.insert(load)
        const reversal = { id: `re_${load.id}`, loadId: load.id, amountCents: 120, state: "taken" as const }
        assert.isTrue(Option.isNone(yield* store.reversal(reversal.id)))
        for (const state of ["taken", "returned"] as const) {
          yield* store.putReversal({ ...reversal, state })
          assert.deepStrictEqual(yield* store.reversal(reversal.id), Option.some({ ...reversal, state }))
        }
      })
    )
  })

export const payoutStoreContract = (name: string, ports: Layer.Layer<Ports>) =>
  it.layer(ports, LIVE)(`PayoutStore over ${name}`, (it) => {
    it.effect("stores one open payout per provider under concurrency", () =>
      Effect.gen(function* () {
        const store = yield* PayoutStore
        const payout = yield* aPayout()
        const kept = yield* atOnce(16, () => store.insert({ ...payout, id: PayoutId.make(randomUUID()) }))
        assert.strictEqual(kept.filter((one) => one).length, 1)
        const open = Option.getOrThrow(yield* store.openOf(payout.providerId))
        assert.isFalse(yield* store.insert(payout))
        yield* store.update({ ...open, state: "failed", failure: "refused" })
        assert.isTrue(Option.isNone(yield* store.openOf(payout.providerId)))
        assert.isTrue(yield* store.insert(payout))
        assert.isFalse(yield* store.insert({ ...open, state: "requested" }), "an id is used once")
      })
    )

    it.effect("locks a payout for one unit of work at a time", () =>
      Effect.gen(function* () {
        const store = yield* PayoutStore
        const payout = yield* aPayout()
        yield* store.insert(payout)
        yield* changesOnce(
          Effect.gen(function* () {
            const locked = Option.getOrThrow(yield* store.lock(payout.id))
            if (locked.state === "paid") return false
            yield* store.update({ ...locked, state: "paid" })
            return true
          })
        )
      })
    )

    it.effect("returns a payout as stored, in every state", () =>
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
        assert.deepStrictEqual(yield* store.find(payout.id), Option.some(paid))
        assert.deepStrictEqual(yield* store.history(payout.providerId, 10), [paid])
        assert.deepStrictEqual(yield* store.history((yield* aPayout()).providerId, 10), [])
      })
    )

    it.effect("lists due payouts, oldest first, without completed ones", () =>
      Effect.gen(function* () {
        const store = yield* PayoutStore
        const late = yield* aPayout({ nextAttemptAt: at(2), state: "transferring" })
        const early = yield* aPayout({ nextAttemptAt: at(1) })
        const others = [yield* aPayout({ nextAttemptAt: at(9) }), yield* aPayout({ state: "paid" })]
        for (const payout of [late, early, ...others]) yield* store.insert(payout)
        const all = [late, early, ...others].map(({ id }) => id)
        const due = (yield* store.due(at(5), 100)).filter((id) => all.includes(id))
        assert.deepStrictEqual(due, [early.id, late.id])
      })
    )
  })

export const payeeStoreContract = (name: string, ports: Layer.Layer<Ports>) =>
  it.layer(ports, LIVE)(`PayeeStore over ${name}`, (it) => {
    it.effect("stores the payout account and automatic payouts in either order", () =>
      Effect.gen(function* () {
        const store = yield* PayeeStore
        const [one, two] = [(yield* aProvider()).id, (yield* aProvider()).id]
        const status = {
          accountId: `acct_${one}`,
          status: "pending" as const,
          chargesEnabled: false,
          payoutsEnabled: false,
          detailsSubmitted: false,
          currentlyDue: ["external_account"],
          eventuallyDue: [],
          errors: []
        }
        assert.isTrue(Option.isNone(yield* store.find(one)))
        yield* store.putAutomatic(one, true, at(0))
        yield* store.putStatus(one, status, at(1))
        yield* store.putStatus(two, { ...status, accountId: `acct_${two}` }, at(1))
        yield* store.putAutomatic(two, true, at(2))
        const payee = { providerId: one, status, automatic: true, reserveLifted: false, updatedAt: at(1) }
        assert.deepStrictEqual(yield* store.find(one), Option.some(payee))
        assert.deepStrictEqual(yield* store.findByAccount(`acct_${one}`), Option.some(payee))
        const wanting = (yield* store.automatic(undefined, 1_000)).filter((id) => id === one || id === two)
        assert.deepStrictEqual(wanting, [one, two].toSorted())
        assert.deepStrictEqual(yield* store.automatic(wanting.at(-1), 1_000), [])
        yield* store.putReserveLifted(one, true, at(2))
        assert.deepStrictEqual(yield* store.find(one), Option.some({ ...payee, reserveLifted: true, updatedAt: at(2) }))
        yield* store.putAutomatic(one, false, at(3))
        assert.isFalse((yield* store.automatic(undefined, 1_000)).includes(one))
      })
    )
  })

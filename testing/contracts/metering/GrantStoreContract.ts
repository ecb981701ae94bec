/**
 * What a GrantStore must do.
 */
import { DateTime, Effect, Exit, Option } from "effect"
import assert from "node:assert/strict"
import type { AccountStore } from "../../../domain/accounts/Account.ts"
import { type Grant, GrantStore, type Reservation } from "../../../domain/metering/Grants.ts"
import { Entropy } from "../../../domain/shared/Cryptography.ts"
import { GrantId } from "../../../domain/shared/Ids.ts"
import { MICROCENTS_MAX } from "../../../domain/shared/Microcents.ts"
import { UnitOfWork } from "../../../domain/shared/StoreUnavailable.ts"
import { aConsumer, aProvider, instant } from "../shared/AccountSamples.ts"
import { aReceiptId, aToolId } from "../shared/CallSamples.ts"
import { type Contract, rule } from "../shared/Contract.ts"
import { atOnce, money } from "../shared/LedgerSamples.ts"

const NOW = instant("2026-11-20T12:00:00.000Z")

/** A stored grant; default: of a new consumer to a new provider. */
const aGrant = Effect.fnUntraced(function* (changes: Partial<Grant> = {}) {
  const grant: Grant = {
    id: GrantId.make(yield* (yield* Entropy).uuid),
    consumerId: changes.consumerId ?? (yield* aConsumer()).id,
    providerId: changes.providerId ?? (yield* aProvider()).id,
    toolIds: [],
    cap: money(1_000),
    period: "month",
    expiresAt: undefined,
    revokedAt: undefined,
    createdAt: instant("2026-11-20T10:11:12.345Z"),
    spent: 0n,
    periodStart: instant("2026-11-01T00:00:00.000Z"),
    ...changes
  }
  yield* (yield* GrantStore).insert(grant)
  return grant
})

/** A reservation that is not stored. */
const aReservation = Effect.fnUntraced(function* (grant: Grant, changes: Partial<Reservation> = {}) {
  const reservation: Reservation = {
    consumerId: grant.consumerId,
    invocationId: yield* aReceiptId,
    grantId: grant.id,
    amount: money(300),
    periodStart: grant.periodStart,
    reservedAt: NOW,
    ...changes
  }
  return reservation
})

export const grantStoreContract: Contract<AccountStore | GrantStore | UnitOfWork> = [
  rule(
    "returns every field of a grant, including omitted ones",
    Effect.gen(function* () {
      const store = yield* GrantStore
      const bare = yield* aGrant()
      const full = yield* aGrant({
        toolIds: [yield* aToolId, yield* aToolId],
        cap: money(MICROCENTS_MAX),
        period: "day",
        expiresAt: instant("2027-01-01T00:00:00.001Z"),
        revokedAt: instant("2026-12-01T00:00:00.999Z"),
        spent: MICROCENTS_MAX
      })
      const total = yield* aGrant({ period: "total", periodStart: DateTime.makeUnsafe(0) })
      for (const grant of [bare, full, total]) {
        assert.deepEqual(yield* store.find(grant.consumerId, grant.id), Option.some(grant))
        assert.deepEqual(yield* store.ofConsumer(grant.consumerId, NOW), [grant])
      }
      assert.deepEqual(yield* store.find(bare.consumerId, full.id), Option.none())
    })
  ),

  rule(
    "lists a consumer's grants, newest first, and its active grants to a provider, oldest first",
    Effect.gen(function* () {
      const store = yield* GrantStore
      const { consumerId, id: oldest, providerId } = yield* aGrant({ createdAt: instant("2026-11-01T00:00:00.000Z") })
      const same = { consumerId, providerId }
      const at = (day: number) => instant(`2026-11-0${day}T00:00:00.000Z`)
      const { id: expired } = yield* aGrant({ ...same, createdAt: at(2), expiresAt: NOW })
      const { id: expiring } = yield* aGrant({
        ...same,
        createdAt: at(3),
        expiresAt: DateTime.add(NOW, { milliseconds: 1 })
      })
      const { id: revoked } = yield* aGrant({ ...same, createdAt: at(4), revokedAt: at(5) })
      const { id: elsewhere } = yield* aGrant({ consumerId, createdAt: at(6) })
      yield* aGrant({ providerId })
      assert.deepEqual(
        (yield* store.ofConsumer(consumerId, NOW)).map((grant) => grant.id),
        [elsewhere, revoked, expiring, expired, oldest]
      )
      assert.deepEqual(
        (yield* store.between(consumerId, providerId, NOW)).map((grant) => grant.id),
        [oldest, expiring]
      )
    })
  ),

  rule(
    "is revoked once, by its own consumer",
    Effect.gen(function* () {
      const store = yield* GrantStore
      const grant = yield* aGrant()
      const stranger = yield* aConsumer()
      assert.deepEqual(yield* store.revoke(stranger.id, grant.id, NOW), Option.none())
      const revoked = { ...grant, revokedAt: NOW }
      assert.deepEqual(yield* store.revoke(grant.consumerId, grant.id, NOW), Option.some(revoked))
      const later = DateTime.add(NOW, { hours: 1 })
      assert.deepEqual(yield* store.revoke(grant.consumerId, grant.id, later), Option.none())
      assert.deepEqual(yield* store.find(grant.consumerId, grant.id), Option.some(revoked))
    })
  ),

  rule(
    "stores spending and period of one grant only",
    Effect.gen(function* () {
      const store = yield* GrantStore
      const grant = yield* aGrant()
      const other = yield* aGrant({ consumerId: grant.consumerId, createdAt: instant("2026-11-21T00:00:00.000Z") })
      const periodStart = instant("2026-12-01T00:00:00.000Z")
      yield* store.setSpent(grant.id, grant.consumerId, 700n, periodStart)
      yield* store.setSpent(other.id, (yield* aConsumer()).id, 900n, periodStart)
      assert.deepEqual(yield* store.ofConsumer(grant.consumerId, NOW), [other, { ...grant, spent: 700n, periodStart }])
    })
  ),

  rule(
    "loses no spending of concurrent units of work",
    Effect.gen(function* () {
      const store = yield* GrantStore
      const { atomically } = yield* UnitOfWork
      const { consumerId, id, periodStart, providerId } = yield* aGrant()
      const spend = Effect.gen(function* () {
        const [grant] = yield* store.between(consumerId, providerId, NOW)
        yield* store.setSpent(id, consumerId, grant!.spent + 1n, periodStart)
      })
      const giveBack = Effect.gen(function* () {
        const grant = Option.getOrThrow(yield* store.find(consumerId, id))
        yield* store.setSpent(id, consumerId, grant.spent - 1n, periodStart)
      })
      yield* atomically(store.setSpent(id, consumerId, 100n, periodStart))
      yield* atOnce(48, (n) => atomically(n % 3 === 0 ? giveBack : spend))
      assert.equal(Option.getOrThrow(yield* store.find(consumerId, id)).spent, 116n)
    })
  ),

  rule(
    "returns a reservation once, to its own consumer",
    Effect.gen(function* () {
      const store = yield* GrantStore
      const { atomically } = yield* UnitOfWork
      const grant = yield* aGrant()
      const reservation = yield* aReservation(grant)
      const { consumerId, invocationId } = reservation
      yield* store.reserve(reservation)
      assert.deepEqual(yield* store.takeReservation((yield* aConsumer()).id, invocationId), Option.none())
      const taken = yield* atOnce(16, () => atomically(store.takeReservation(consumerId, invocationId)))
      assert.deepEqual(taken.filter(Option.isSome), [Option.some(reservation)])
    })
  ),

  rule(
    "undoes reserving and taking with the unit of work",
    Effect.gen(function* () {
      const store = yield* GrantStore
      const { atomically } = yield* UnitOfWork
      const grant = yield* aGrant()
      const [kept, undone] = [yield* aReservation(grant), yield* aReservation(grant)]
      const { consumerId } = grant
      yield* store.reserve(kept)
      const failing = store
        .reserve(undone)
        .pipe(
          Effect.andThen(store.takeReservation(consumerId, kept.invocationId)),
          Effect.andThen(Effect.fail("no")),
          atomically
        )
      assert.equal(Exit.isFailure(yield* Effect.exit(failing)), true)
      assert.deepEqual(yield* store.takeReservation(consumerId, undone.invocationId), Option.none())
      assert.deepEqual(yield* store.takeReservation(consumerId, kept.invocationId), Option.some(kept))
    })
  ),

  rule(
    "lists reservations from before a time, oldest first, up to a limit",
    Effect.gen(function* () {
      const store = yield* GrantStore
      const grant = yield* aGrant()
      const long = instant("2000-01-01T00:00:00.000Z")
      const after = (minutes: number) => DateTime.add(long, { minutes })
      for (const minutes of [2, 0, 1]) yield* store.reserve(yield* aReservation(grant, { reservedAt: after(minutes) }))
      const minutesOf = Effect.map((found: ReadonlyArray<Reservation>) =>
        found.map((one) => DateTime.toEpochMillis(one.reservedAt) / 60_000 - DateTime.toEpochMillis(long) / 60_000)
      )
      assert.deepEqual(yield* store.reservedBefore(after(2), 10).pipe(minutesOf), [0, 1])
      assert.deepEqual(yield* store.reservedBefore(after(3), 2).pipe(minutesOf), [0, 1])
      assert.deepEqual(yield* store.reservedBefore(after(3), 10).pipe(minutesOf), [0, 1, 2])
      assert.deepEqual(yield* store.reservedBefore(long, 10).pipe(minutesOf), [])
    })
  )
]

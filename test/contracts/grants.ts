import { assert, it } from "@effect/vitest"
import { DateTime, Effect, Exit, type Layer, Option } from "effect"
import type { Grant, Reservation } from "../../domain/metering/Grant.ts"
import { GrantStore } from "../../domain/metering/GrantStore.ts"
import { Entropy } from "../../domain/shared/Entropy.ts"
import { GrantId } from "../../domain/shared/Ids.ts"
import { MICROCENTS_MAX } from "../../domain/shared/Microcents.ts"
import { UnitOfWork } from "../../domain/shared/UnitOfWork.ts"
import { LIVE } from "../support/PostgresTest.ts"
import { aReceiptId, aToolId, atOnce, money } from "./ledgerSamples.ts"
import type { MeteringPorts } from "./meteringPorts.ts"
import { aConsumer, aProvider, instant } from "./samples.ts"

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

export const grantsContract = (name: string, ports: Layer.Layer<MeteringPorts>) =>
  it.layer(ports, LIVE)(`GrantStore over ${name}`, (it) => {
    it.effect("returns every field of a grant, including omitted ones", () =>
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
          assert.deepStrictEqual(yield* store.find(grant.consumerId, grant.id), Option.some(grant))
          assert.deepStrictEqual(yield* store.ofConsumer(grant.consumerId, NOW), [grant])
        }
        assert.deepStrictEqual(yield* store.find(bare.consumerId, full.id), Option.none())
      })
    )

    it.effect("lists a consumer's grants, newest first, and its active grants to a provider, oldest first", () =>
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
        assert.deepStrictEqual(
          (yield* store.ofConsumer(consumerId, NOW)).map((grant) => grant.id),
          [elsewhere, revoked, expiring, expired, oldest]
        )
        assert.deepStrictEqual(
          (yield* store.between(consumerId, providerId, NOW)).map((grant) => grant.id),
          [oldest, expiring]
        )
      })
    )

    it.effect("is revoked once, by its own consumer", () =>
      Effect.gen(function* () {
        const store = yield* GrantStore
        const grant = yield* aGrant()
        const stranger = yield* aConsumer()
        assert.deepStrictEqual(yield* store.revoke(stranger.id, grant.id, NOW), Option.none())
        const revoked = { ...grant, revokedAt: NOW }
        assert.deepStrictEqual(yield* store.revoke(grant.consumerId, grant.id, NOW), Option.some(revoked))
        const later = DateTime.add(NOW, { hours: 1 })
        assert.deepStrictEqual(yield* store.revoke(grant.consumerId, grant.id, later), Option.none())
        assert.deepStrictEqual(yield* store.find(grant.consumerId, grant.id), Option.some(revoked))
      })
    )

    it.effect("stores spending and period of one grant only", () =>
      Effect.gen(function* () {
        const store = yield* GrantStore
        const grant = yield* aGrant()
        const other = yield* aGrant({ consumerId: grant.consumerId, createdAt: instant("2026-11-21T00:00:00.000Z") })
        const periodStart = instant("2026-12-01T00:00:00.000Z")
        yield* store.setSpent(grant.id, grant.consumerId, 700n, periodStart)
        yield* store.setSpent(other.id, (yield* aConsumer()).id, 900n, periodStart)
        assert.deepStrictEqual(yield* store.ofConsumer(grant.consumerId, NOW), [
          other,
          { ...grant, spent: 700n, periodStart }
        ])
      })
    )

    it.effect("loses no spending of concurrent units of work", () =>
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
        assert.strictEqual(Option.getOrThrow(yield* store.find(consumerId, id)).spent, 116n)
      })
    )

    it.effect("returns a reservation once, to its own consumer", () =>
      Effect.gen(function* () {
        const store = yield* GrantStore
        const { atomically } = yield* UnitOfWork
        const grant = yield* aGrant()
        const reservation = yield* aReservation(grant)
        const { consumerId, invocationId } = reservation
        yield* store.reserve(reservation)
        assert.deepStrictEqual(yield* store.takeReservation((yield* aConsumer()).id, invocationId), Option.none())
        const taken = yield* atOnce(16, () => atomically(store.takeReservation(consumerId, invocationId)))
        assert.deepStrictEqual(taken.filter(Option.isSome), [Option.some(reservation)])
      })
    )

    it.effect("undoes reserving and taking with the unit of work", () =>
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
        assert.isTrue(Exit.isFailure(yield* Effect.exit(failing)))
        assert.deepStrictEqual(yield* store.takeReservation(consumerId, undone.invocationId), Option.none())
        assert.deepStrictEqual(yield* store.takeReservation(consumerId, kept.invocationId), Option.some(kept))
      })
    )

    it.effect("lists reservations from before a time, oldest first, up to a limit", () =>
      Effect.gen(function* () {
        const store = yield* GrantStore
        const grant = yield* aGrant()
        const long = instant("2000-01-01T00:00:00.000Z")
        const after = (minutes: number) => DateTime.add(long, { minutes })
        for (const minutes of [2, 0, 1])
          yield* store.reserve(yield* aReservation(grant, { reservedAt: after(minutes) }))
        const minutesOf = Effect.map((found: ReadonlyArray<Reservation>) =>
          found.map((one) => DateTime.toEpochMillis(one.reservedAt) / 60_000 - DateTime.toEpochMillis(long) / 60_000)
        )
        assert.deepStrictEqual(yield* store.reservedBefore(after(2), 10).pipe(minutesOf), [0, 1])
        assert.deepStrictEqual(yield* store.reservedBefore(after(3), 2).pipe(minutesOf), [0, 1])
        assert.deepStrictEqual(yield* store.reservedBefore(after(3), 10).pipe(minutesOf), [0, 1, 2])
        assert.deepStrictEqual(yield* store.reservedBefore(long, 10).pipe(minutesOf), [])
      })
    )
  })

/**
 * Grants in memory.
 */
import { DateTime, Effect, Layer, Option } from "effect"
import {
  DEAD_GRANTS_SHOWN_MAX,
  type Grant,
  GrantStore,
  isActive,
  type Reservation
} from "../../../domain/metering/Grants.ts"
import type { ConsumerId, GrantId, ReceiptId } from "../../../domain/shared/Ids.ts"
import { newestFirst, oldestFirst } from "../shared/MemoryRows.ts"
import { put, write } from "../shared/MemoryUnitOfWork.ts"

export const layer = Layer.sync(GrantStore, () => {
  const grants = new Map<GrantId, Grant>()
  const reservations = new Map<ReceiptId, Reservation>()

  const ofConsumer = (consumerId: ConsumerId): ReadonlyArray<Grant> =>
    [...grants.values()].filter((grant) => grant.consumerId === consumerId)

  return GrantStore.of({
    insert: (grant) => put(grants, grant.id, grant),
    ofConsumer: (consumerId, now) =>
      Effect.sync(() => {
        const all = ofConsumer(consumerId).toSorted(newestFirst((grant) => grant.createdAt))
        let dead = 0
        return all.filter((grant) => isActive(grant, now) || dead++ < DEAD_GRANTS_SHOWN_MAX)
      }),
    between: (consumerId, providerId, now) =>
      Effect.sync(() =>
        ofConsumer(consumerId)
          .filter((grant) => grant.providerId === providerId && isActive(grant, now))
          .toSorted(oldestFirst((grant) => grant.createdAt))
      ),
    find: (consumerId, id) =>
      Effect.sync(() => Option.fromUndefinedOr(ofConsumer(consumerId).find((grant) => grant.id === id))),
    revoke: Effect.fnUntraced(function* (consumerId, id, at) {
      const grant = grants.get(id)
      if (grant === undefined || grant.consumerId !== consumerId || grant.revokedAt !== undefined) return Option.none()
      const revoked: Grant = { ...grant, revokedAt: DateTime.makeUnsafe(at.epochMilliseconds) }
      yield* put(grants, id, revoked)
      return Option.some(revoked)
    }),
    setSpent: Effect.fnUntraced(function* (id, consumerId, spent, periodStart) {
      const grant = grants.get(id)
      if (grant?.consumerId === consumerId) yield* put(grants, id, { ...grant, spent, periodStart })
    }),
    reserve: (reservation) => put(reservations, reservation.invocationId, reservation),
    takeReservation: (consumerId, invocationId) =>
      write(
        () => {
          const reservation = reservations.get(invocationId)
          if (reservation?.consumerId !== consumerId) return undefined
          reservations.delete(invocationId)
          return reservation
        },
        (taken) => {
          if (taken !== undefined) reservations.set(taken.invocationId, taken)
        }
      ).pipe(Effect.map(Option.fromUndefinedOr)),
    reservedBefore: (before, limit) =>
      Effect.sync(() =>
        [...reservations.values()]
          .filter((reservation) => DateTime.isLessThan(reservation.reservedAt, before))
          .toSorted((a, b) => a.reservedAt.epochMilliseconds - b.reservedAt.epochMilliseconds)
          .slice(0, limit)
      )
  })
})

/**
 * Payouts in memory.
 */
import { DateTime, Effect, Layer, Option } from "effect"
import { isOpen, type Payout, PayoutStore } from "../../../domain/earnings/PayoutStore.ts"
import type { PayoutId, ProviderId } from "../../../domain/shared/Ids.ts"
import { add, newestFirst, oldestFirst, pageByTime } from "../shared/MemoryRows.ts"
import { put } from "../shared/MemoryUnitOfWork.ts"

export const layer = Layer.sync(PayoutStore, () => {
  const payouts = new Map<PayoutId, Payout>()

  const find = (id: PayoutId) => Effect.sync(() => Option.fromNullishOr(payouts.get(id)))
  const openOf = (providerId: ProviderId) =>
    [...payouts.values()].find((payout) => payout.providerId === providerId && isOpen(payout))

  return PayoutStore.of({
    insert: (payout) =>
      Effect.suspend(() =>
        openOf(payout.providerId) === undefined ? add(payouts, payout.id, payout) : Effect.succeed(false)
      ),
    find,
    openOf: (providerId) => Effect.sync(() => Option.fromNullishOr(openOf(providerId))),
    lock: find,
    update: (payout) => put(payouts, payout.id, payout),
    due: (now, limit) =>
      Effect.sync(() =>
        [...payouts.values()]
          .filter((payout) => isOpen(payout) && DateTime.isLessThanOrEqualTo(payout.nextAttemptAt, now))
          .toSorted(oldestFirst((payout) => payout.nextAttemptAt))
          .slice(0, limit)
          .map((payout) => payout.id)
      ),
    list: ({ providerId, state }, page) =>
      Effect.sync(() =>
        pageByTime(
          [...payouts.values()].filter(
            (payout) =>
              (state === undefined || payout.state === state) &&
              (providerId === undefined || payout.providerId === providerId)
          ),
          page,
          (payout) => payout.createdAt,
          "newest"
        )
      ),
    history: (providerId, limit) =>
      Effect.sync(() =>
        [...payouts.values()]
          .filter((payout) => payout.providerId === providerId)
          .toSorted(newestFirst((payout) => payout.createdAt))
          .slice(0, limit)
      )
  })
})

/**
 * Loads in memory.
 */
import { DateTime, Effect, Layer, Option } from "effect"
import { isCheckDue, type Load, LoadStore, type Reversal } from "../../../domain/payments/Loads.ts"
import type { LoadId } from "../../../domain/shared/Ids.ts"
import { add, newestFirst, oldestFirst, prune } from "../shared/MemoryRows.ts"
import { put } from "../shared/MemoryUnitOfWork.ts"

export const layer = Layer.sync(LoadStore, () => {
  const loads = new Map<LoadId, Load>()
  const reversals = new Map<string, Reversal>()
  const events = new Map<string, DateTime.Utc>()

  const find = (id: LoadId) => Effect.sync(() => Option.fromNullishOr(loads.get(id)))

  return LoadStore.of({
    insert: (load) => add(loads, load.id, load),
    find,
    findByPayment: (paymentId) =>
      Effect.sync(() => Option.fromNullishOr([...loads.values()].find((load) => load.paymentId === paymentId))),
    lock: find,
    update: (load) => put(loads, load.id, load),
    unsettled: (now, limit) =>
      Effect.sync(() =>
        [...loads.values()]
          .filter((load) => isUnsettled(load.state) && isCheckDue(load, now))
          .toSorted(oldestFirst((load) => load.updatedAt))
          .slice(0, limit)
      ),
    pendingOrPaidSince: (consumerId, since) =>
      Effect.sync(() =>
        [...loads.values()].filter(
          (load) =>
            load.consumerId === consumerId &&
            (isUnsettled(load.state) || (load.paidAt !== undefined && DateTime.isGreaterThan(load.paidAt, since)))
        )
      ),
    paidOf: (consumerId, limit) =>
      Effect.sync(() =>
        [...loads.values()]
          .filter((load) => load.consumerId === consumerId && load.state === "paid")
          .toSorted(newestFirst((load) => load.createdAt))
          .slice(0, limit)
          .map((load) => ({
            load,
            refundedCents: [...reversals.values()].reduce(
              (sum, one) => (one.loadId === load.id && one.state === "taken" ? sum + one.amountCents : sum),
              0
            )
          }))
      ),
    withoutFee: (paidSince, limit) =>
      Effect.sync(() =>
        [...loads.values()]
          .filter(
            ({ feeCents, paidAt, state }) =>
              state === "paid" &&
              feeCents === undefined &&
              paidAt !== undefined &&
              DateTime.isGreaterThanOrEqualTo(paidAt, paidSince)
          )
          .toSorted(oldestFirst((load) => load.updatedAt))
          .slice(0, limit)
      ),
    unsettledOf: (consumerId) =>
      Effect.sync(
        () => [...loads.values()].filter((load) => load.consumerId === consumerId && isUnsettled(load.state)).length
      ),
    reversal: (id) => Effect.sync(() => Option.fromNullishOr(reversals.get(id))),
    putReversal: (reversal) => put(reversals, reversal.id, reversal),
    claimEvent: (eventId, at) => add(events, eventId, at),
    forgetEvents: (before, limit) => prune(events, (at) => DateTime.isLessThan(at, before), limit)
  })
})

const isUnsettled = (state: Load["state"]): boolean => state === "opening" || state === "open"

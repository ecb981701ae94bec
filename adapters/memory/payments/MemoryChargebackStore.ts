/**
 * Chargebacks in memory.
 */
import { Effect, Layer, Option } from "effect"
import { type Chargeback, ChargebackStore } from "../../../domain/payments/AccountFreezes.ts"
import { oldestFirst, pageByTime } from "../shared/MemoryRows.ts"
import { put } from "../shared/MemoryUnitOfWork.ts"

export const layer = Layer.sync(ChargebackStore, () => {
  const chargebacks = new Map<string, Chargeback>()
  return ChargebackStore.of({
    find: (id) => Effect.sync(() => Option.fromNullishOr(chargebacks.get(id))),
    put: (chargeback) => put(chargebacks, chargeback.id, chargeback),
    list: (page) => Effect.sync(() => pageByTime([...chargebacks.values()], page, (one) => one.openedAt, "newest")),
    ofConsumer: (consumerId) =>
      Effect.sync(() =>
        [...chargebacks.values()]
          .filter((one) => one.consumerId === consumerId)
          .toSorted(oldestFirst((one) => one.openedAt))
      )
  })
})

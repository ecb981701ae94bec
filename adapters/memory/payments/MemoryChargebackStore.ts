/**
 * Chargebacks in memory.
 */
import { Effect, Layer, Option } from "effect"
import { type Chargeback, ChargebackStore } from "../../../domain/payments/ChargebackStore.ts"
import { put } from "../shared/MemoryUnitOfWork.ts"

export const layer = Layer.sync(ChargebackStore, () => {
  const chargebacks = new Map<string, Chargeback>()
  return ChargebackStore.of({
    find: (id) => Effect.sync(() => Option.fromNullishOr(chargebacks.get(id))),
    put: (chargeback) => put(chargebacks, chargeback.id, chargeback),
    ofConsumer: (consumerId) =>
      Effect.sync(() =>
        [...chargebacks.values()]
          .filter((one) => one.consumerId === consumerId)
          .toSorted((a, b) => a.openedAt.epochMilliseconds - b.openedAt.epochMilliseconds || (a.id < b.id ? -1 : 1))
      )
  })
})

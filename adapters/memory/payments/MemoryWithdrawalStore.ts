/**
 * Withdrawals in memory.
 */
import { DateTime, Effect, Layer, Option } from "effect"
import {
  isOpenPart,
  type Withdrawal,
  type WithdrawalPart,
  WithdrawalStore
} from "../../../domain/payments/Withdrawals.ts"
import type { LoadId, WithdrawalId, WithdrawalPartId } from "../../../domain/shared/Ids.ts"
import { newestFirst, oldestFirst } from "../shared/MemoryRows.ts"
import { put } from "../shared/MemoryUnitOfWork.ts"

export const layer = Layer.sync(WithdrawalStore, () => {
  const withdrawals = new Map<
    WithdrawalId,
    Omit<Withdrawal, "parts"> & { readonly partIds: ReadonlyArray<WithdrawalPartId> }
  >()
  const parts = new Map<WithdrawalPartId, WithdrawalPart>()

  const shown = (id: WithdrawalId): Withdrawal | undefined => {
    const found = withdrawals.get(id)
    if (found === undefined) return undefined
    const { partIds, ...withdrawal } = found
    return { ...withdrawal, parts: partIds.map((partId) => parts.get(partId)!) }
  }

  return WithdrawalStore.of({
    insert: ({ parts: given, ...withdrawal }) =>
      Effect.gen(function* () {
        if (withdrawals.has(withdrawal.id)) return false
        for (const part of given) yield* put(parts, part.id, part)
        yield* put(withdrawals, withdrawal.id, { ...withdrawal, partIds: given.map(({ id }) => id) })
        return true
      }),
    find: (id) => Effect.sync(() => Option.fromNullishOr(shown(id))),
    list: (consumerId, limit) =>
      Effect.sync(() =>
        [...withdrawals.values()]
          .filter((one) => one.consumerId === consumerId)
          .toSorted(newestFirst((one) => one.createdAt))
          .slice(0, limit)
          .map(({ id }) => shown(id)!)
      ),
    lockPart: (id) => Effect.sync(() => Option.fromNullishOr(parts.get(id))),
    updatePart: (part) => put(parts, part.id, part),
    hasOpen: (consumerId) =>
      Effect.sync(() => parts.values().some((part) => part.consumerId === consumerId && isOpenPart(part))),
    due: (now, limit) =>
      Effect.sync(() =>
        [...parts.values()]
          .filter((part) => isOpenPart(part) && DateTime.isLessThanOrEqualTo(part.nextAttemptAt, now))
          .toSorted(oldestFirst((part) => part.nextAttemptAt))
          .slice(0, limit)
          .map(({ id }) => id)
      ),
    withdrawnCents: (consumerId) =>
      Effect.sync(() => {
        const totals = new Map<LoadId, number>()
        for (const { amountCents, consumerId: owner, loadId, state } of parts.values()) {
          if (owner !== consumerId || state === "failed" || state === "returned") continue
          totals.set(loadId, (totals.get(loadId) ?? 0) + amountCents)
        }
        return totals
      })
  })
})

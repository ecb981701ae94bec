/**
 * Payees in memory.
 */
import { Effect, Layer, Option } from "effect"
import { type Payee, PayeeStore } from "../../../domain/earnings/PayoutStore.ts"
import type { ProviderId } from "../../../domain/shared/Ids.ts"
import { put } from "../shared/MemoryUnitOfWork.ts"

export const layer = Layer.sync(PayeeStore, () => {
  const payees = new Map<ProviderId, Payee>()

  const change = (providerId: ProviderId, changes: Partial<Payee> & Pick<Payee, "updatedAt">) =>
    Effect.suspend(() => {
      const before = payees.get(providerId) ?? {
        providerId,
        status: undefined,
        automatic: false,
        reserveLifted: false
      }
      return put(payees, providerId, { ...before, ...changes })
    })

  return PayeeStore.of({
    find: (providerId) => Effect.sync(() => Option.fromNullishOr(payees.get(providerId))),
    findByAccount: (accountId) =>
      Effect.sync(() =>
        Option.fromNullishOr([...payees.values()].find((payee) => payee.status?.accountId === accountId))
      ),
    putStatus: (providerId, standing, updatedAt) => change(providerId, { status: standing, updatedAt }),
    putAutomatic: (providerId, automatic, updatedAt) => change(providerId, { automatic, updatedAt }),
    putReserveLifted: (providerId, reserveLifted, updatedAt) => change(providerId, { reserveLifted, updatedAt }),
    automatic: (after, limit) =>
      Effect.sync(() =>
        [...payees.values()]
          .filter((payee) => payee.automatic && (after === undefined || payee.providerId > after))
          .map((payee) => payee.providerId)
          .toSorted()
          .slice(0, limit)
      )
  })
})

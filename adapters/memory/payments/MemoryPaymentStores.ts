/**
 * Loads, withdrawals, chargebacks and frozen accounts in memory.
 */
import { DateTime, Effect, Layer, Option } from "effect"
import { lotDayOf } from "../../../domain/ledger/Transfer.ts"
import { type Chargeback, ChargebackStore, FreezeStore } from "../../../domain/payments/AccountFreezes.ts"
import { isCheckDue, type Load, LoadStore, type Reversal } from "../../../domain/payments/Loads.ts"
import {
  isOpenPart,
  type Withdrawal,
  type WithdrawalPart,
  WithdrawalStore
} from "../../../domain/payments/Withdrawals.ts"
import { type EarnedFrom, SpendingByLot } from "../../../domain/processor/Chargebacks.ts"
import type { LoadId, WithdrawalId, WithdrawalPartId } from "../../../domain/shared/Ids.ts"
import { MemoryLedger } from "../ledger/MemoryLedger.ts"
import { memoryLayer, memoryStore } from "../shared/MemoryStore.ts"
import { add, newestFirst, oldestFirst, pageByTime, prune } from "../shared/MemoryRows.ts"
import { put, remove } from "../shared/MemoryUnitOfWork.ts"

const chargebackStore = Layer.sync(ChargebackStore, () => {
  const chargebacks = new Map<string, Chargeback>()
  return memoryStore(ChargebackStore, {
    find: (id) => Option.fromNullishOr(chargebacks.get(id)),
    put: (chargeback) => put(chargebacks, chargeback.id, chargeback),
    list: (page) => pageByTime([...chargebacks.values()], page, (one) => one.openedAt, "newest"),
    ofConsumer: (consumerId) =>
      [...chargebacks.values()]
        .filter((one) => one.consumerId === consumerId)
        .toSorted(oldestFirst((one) => one.openedAt))
  })
})

const freezeStore = memoryLayer(FreezeStore, MemoryLedger, ({ frozen }) => ({
  freeze: (consumerId, freeze) => {
    const current = frozen.get(consumerId)
    if (current?.byOperator === true && !freeze.byOperator) return undefined
    return put(frozen, consumerId, { ...freeze, at: current?.at ?? freeze.at })
  },
  unfreeze: (consumerId) => (frozen.has(consumerId) ? Effect.as(remove(frozen, consumerId), true) : false),
  find: (consumerId) => Option.fromNullishOr(frozen.get(consumerId)),
  findAll: (ids) => new Map([...frozen].filter(([id]) => ids.includes(id))),
  frozen: (after, limit) =>
    [...frozen.keys()]
      .filter((id) => after === undefined || id > after)
      .toSorted()
      .slice(0, limit)
}))

const loadStore = Layer.sync(LoadStore, () => {
  const loads = new Map<LoadId, Load>()
  const reversals = new Map<string, Reversal>()
  const events = new Map<string, DateTime.Utc>()

  const find = (id: LoadId) => Option.fromNullishOr(loads.get(id))

  return memoryStore(LoadStore, {
    insert: (load) => add(loads, load.id, load),
    find,
    findByPayment: (paymentId) =>
      Option.fromNullishOr([...loads.values()].find((load) => load.paymentId === paymentId)),
    lock: find,
    update: (load) => put(loads, load.id, load),
    unsettled: (now, limit) =>
      [...loads.values()]
        .filter((load) => isUnsettled(load.state) && isCheckDue(load, now))
        .toSorted(oldestFirst((load) => load.updatedAt))
        .slice(0, limit),
    pendingOrPaidSince: (consumerId, since) =>
      [...loads.values()].filter(
        (load) =>
          load.consumerId === consumerId &&
          (isUnsettled(load.state) || (load.paidAt !== undefined && DateTime.isGreaterThan(load.paidAt, since)))
      ),
    paidOf: (consumerId, limit) =>
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
        })),
    withoutFee: (paidSince, limit) =>
      [...loads.values()]
        .filter(
          ({ feeCents, paidAt, state }) =>
            state === "paid" &&
            feeCents === undefined &&
            paidAt !== undefined &&
            DateTime.isGreaterThanOrEqualTo(paidAt, paidSince)
        )
        .toSorted(oldestFirst((load) => load.updatedAt))
        .slice(0, limit),
    unsettledOf: (consumerId) =>
      [...loads.values()].filter((load) => load.consumerId === consumerId && isUnsettled(load.state)).length,
    reversal: (id) => Option.fromNullishOr(reversals.get(id)),
    putReversal: (reversal) => put(reversals, reversal.id, reversal),
    claimEvent: (eventId, at) => add(events, eventId, at),
    forgetEvents: (before, limit) => prune(events, (at) => DateTime.isLessThan(at, before), limit)
  })
})

const isUnsettled = (state: Load["state"]): boolean => state === "opening" || state === "open"

const spendingByLot = memoryLayer(SpendingByLot, MemoryLedger, (ledger) => ({
  since: (consumerId, settledFrom, without) => {
    const left = new Set(without)
    const totals = new Map<string, EarnedFrom>()
    for (const { fee, receipt } of ledger.closedCallsOf.get(consumerId) ?? []) {
      const settledAt = DateTime.makeUnsafe(receipt.created_at)
      const net = receipt.cost_microcents - fee
      const isOwn = receipt.agent_id === consumerId && !left.has(receipt.receipt_id)
      if (!isOwn || net <= 0n || DateTime.isLessThan(settledAt, settledFrom)) continue
      const [providerId, day] = [receipt.provider_id, lotDayOf(settledAt)]
      const key = `${day} ${providerId}`
      totals.set(key, { providerId, day, net: (totals.get(key)?.net ?? 0n) + net })
    }
    return [...totals].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, earned]) => earned)
  }
}))

const withdrawalStore = Layer.sync(WithdrawalStore, () => {
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

  return memoryStore(WithdrawalStore, {
    insert: ({ parts: given, ...withdrawal }) =>
      Effect.gen(function* () {
        if (withdrawals.has(withdrawal.id)) return false
        for (const part of given) yield* put(parts, part.id, part)
        yield* put(withdrawals, withdrawal.id, { ...withdrawal, partIds: given.map(({ id }) => id) })
        return true
      }),
    find: (id) => Option.fromNullishOr(shown(id)),
    list: (consumerId, limit) =>
      [...withdrawals.values()]
        .filter((one) => one.consumerId === consumerId)
        .toSorted(newestFirst((one) => one.createdAt))
        .slice(0, limit)
        .map(({ id }) => shown(id)!),
    lockPart: (id) => Option.fromNullishOr(parts.get(id)),
    updatePart: (part) => put(parts, part.id, part),
    hasOpen: (consumerId) => parts.values().some((part) => part.consumerId === consumerId && isOpenPart(part)),
    due: (now, limit) =>
      [...parts.values()]
        .filter((part) => isOpenPart(part) && DateTime.isLessThanOrEqualTo(part.nextAttemptAt, now))
        .toSorted(oldestFirst((part) => part.nextAttemptAt))
        .slice(0, limit)
        .map(({ id }) => id),
    withdrawnCents: (consumerId) => {
      const totals = new Map<LoadId, number>()
      for (const { amountCents, consumerId: owner, loadId, state } of parts.values()) {
        if (owner !== consumerId || state === "failed" || state === "returned") continue
        totals.set(loadId, (totals.get(loadId) ?? 0) + amountCents)
      }
      return totals
    }
  })
})

export const layer = Layer.mergeAll(chargebackStore, freezeStore, loadStore, spendingByLot, withdrawalStore)

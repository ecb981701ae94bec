/**
 * Claims, payees and payouts in memory.
 */
import { DateTime, Effect, Layer, Option } from "effect"
import { type Claim, type ClaimId, ClaimStore, outstandingOf } from "../../../domain/earnings/Claims.ts"
import { isOpen, type Payee, PayeeStore, type Payout, PayoutStore } from "../../../domain/earnings/PayoutStore.ts"
import type { PayoutId, ProviderId } from "../../../domain/shared/Ids.ts"
import { memoryStore } from "../shared/MemoryStore.ts"
import { add, change, newestFirst, oldestFirst, pageById, pageByTime } from "../shared/MemoryRows.ts"
import { put } from "../shared/MemoryUnitOfWork.ts"

const claimStore = Layer.sync(ClaimStore, () => {
  const claims = new Map<ClaimId, Claim>()

  const open = (keep: (claim: Claim) => boolean): ReadonlyArray<Claim> =>
    [...claims.values()].filter((claim) => outstandingOf(claim) > 0n && keep(claim)).toSorted(byAge)

  const outstanding = (keep: (claim: Claim) => boolean): bigint =>
    open(keep).reduce((sum, claim) => sum + outstandingOf(claim), 0n)

  const advanced = () => outstanding(({ creditor }) => creditor === undefined)

  return memoryStore(ClaimStore, {
    insert: (claim) => put(claims, claim.id, claim),
    lockOpen: (debtor, limit) => open((claim) => claim.debtor === debtor).slice(0, limit),
    setPaid: (id, paid) => change(claims, id, { paid }),
    debtors: (after, limit) => {
      const owing = open(({ debtor }) => debtor !== undefined && (after === undefined || debtor > after))
      return [...new Set(owing.map(({ debtor }) => debtor!))].toSorted().slice(0, limit)
    },
    list: (openOnly, page) =>
      pageById(
        [...claims.values()].filter((claim) => !openOnly || outstandingOf(claim) > 0n),
        page
      ),
    ofSubjects: (subjects) => [...claims.values()].filter(({ subject }) => subjects.includes(subject)).toSorted(byAge),
    owedBy: (debtor) => outstanding((claim) => claim.debtor === debtor),
    owedTo: (creditor) => outstanding((claim) => claim.creditor === creditor),
    totals: Effect.sync(() => ({
      byProvidersMicrocents: outstanding(({ creditor, debtor }) => debtor !== undefined && creditor !== undefined),
      byPlatformMicrocents: outstanding(({ debtor }) => debtor === undefined),
      advancedMicrocents: advanced()
    })),
    lockAdvanced: Effect.sync(advanced)
  })
})

const byAge = oldestFirst<Claim>(({ createdAt }) => createdAt)

const payeeStore = Layer.sync(PayeeStore, () => {
  const payees = new Map<ProviderId, Payee>()

  const change = (providerId: ProviderId, changes: Partial<Payee> & Pick<Payee, "updatedAt">) => {
    const before = payees.get(providerId) ?? { providerId, status: undefined, automatic: false, reserveLifted: false }
    return put(payees, providerId, { ...before, ...changes })
  }

  return memoryStore(PayeeStore, {
    find: (providerId) => Option.fromNullishOr(payees.get(providerId)),
    findByAccount: (accountId) =>
      Option.fromNullishOr([...payees.values()].find((payee) => payee.status?.accountId === accountId)),
    putStatus: (providerId, standing, updatedAt) => change(providerId, { status: standing, updatedAt }),
    putAutomatic: (providerId, automatic, updatedAt) => change(providerId, { automatic, updatedAt }),
    putReserveLifted: (providerId, reserveLifted, updatedAt) => change(providerId, { reserveLifted, updatedAt }),
    automatic: (after, limit) =>
      [...payees.values()]
        .filter((payee) => payee.automatic && (after === undefined || payee.providerId > after))
        .map((payee) => payee.providerId)
        .toSorted()
        .slice(0, limit)
  })
})

const payoutStore = Layer.sync(PayoutStore, () => {
  const payouts = new Map<PayoutId, Payout>()

  const find = (id: PayoutId) => Option.fromNullishOr(payouts.get(id))
  const openOf = (providerId: ProviderId) =>
    [...payouts.values()].find((payout) => payout.providerId === providerId && isOpen(payout))

  return memoryStore(PayoutStore, {
    insert: (payout) => (openOf(payout.providerId) === undefined ? add(payouts, payout.id, payout) : false),
    find,
    openOf: (providerId) => Option.fromNullishOr(openOf(providerId)),
    lock: find,
    update: (payout) => put(payouts, payout.id, payout),
    due: (now, limit) =>
      [...payouts.values()]
        .filter((payout) => isOpen(payout) && DateTime.isLessThanOrEqualTo(payout.nextAttemptAt, now))
        .toSorted(oldestFirst((payout) => payout.nextAttemptAt))
        .slice(0, limit)
        .map((payout) => payout.id),
    list: ({ providerId, state }, page) =>
      pageByTime(
        [...payouts.values()].filter(
          (payout) =>
            (state === undefined || payout.state === state) &&
            (providerId === undefined || payout.providerId === providerId)
        ),
        page,
        (payout) => payout.createdAt,
        "newest"
      ),
    history: (providerId, limit) =>
      [...payouts.values()]
        .filter((payout) => payout.providerId === providerId)
        .toSorted(newestFirst((payout) => payout.createdAt))
        .slice(0, limit)
  })
})

export const layer = Layer.mergeAll(claimStore, payeeStore, payoutStore)

/**
 * Claims in memory.
 */
import { Effect, Layer } from "effect"
import { type Claim, type ClaimId, ClaimStore, outstandingOf } from "../../../domain/earnings/Claims.ts"
import { change, oldestFirst, pageById } from "../shared/MemoryRows.ts"
import { put } from "../shared/MemoryUnitOfWork.ts"

export const layer = Layer.sync(ClaimStore, () => {
  const claims = new Map<ClaimId, Claim>()

  const open = (keep: (claim: Claim) => boolean): ReadonlyArray<Claim> =>
    [...claims.values()].filter((claim) => outstandingOf(claim) > 0n && keep(claim)).toSorted(byAge)

  const outstanding = (keep: (claim: Claim) => boolean): bigint =>
    open(keep).reduce((sum, claim) => sum + outstandingOf(claim), 0n)

  const advanced = () => outstanding(({ creditor }) => creditor === undefined)

  return ClaimStore.of({
    insert: (claim) => put(claims, claim.id, claim),
    lockOpen: (debtor, limit) => Effect.sync(() => open((claim) => claim.debtor === debtor).slice(0, limit)),
    setPaid: (id, paid) => change(claims, id, { paid }),
    debtors: (after, limit) =>
      Effect.sync(() => {
        const owing = open(({ debtor }) => debtor !== undefined && (after === undefined || debtor > after))
        return [...new Set(owing.map(({ debtor }) => debtor!))].toSorted().slice(0, limit)
      }),
    list: (openOnly, page) =>
      Effect.sync(() =>
        pageById(
          [...claims.values()].filter((claim) => !openOnly || outstandingOf(claim) > 0n),
          page
        )
      ),
    ofSubjects: (subjects) =>
      Effect.sync(() => [...claims.values()].filter(({ subject }) => subjects.includes(subject)).toSorted(byAge)),
    owedBy: (debtor) => Effect.sync(() => outstanding((claim) => claim.debtor === debtor)),
    owedTo: (creditor) => Effect.sync(() => outstanding((claim) => claim.creditor === creditor)),
    totals: Effect.sync(() => ({
      byProvidersMicrocents: outstanding(({ creditor, debtor }) => debtor !== undefined && creditor !== undefined),
      byPlatformMicrocents: outstanding(({ debtor }) => debtor === undefined),
      advancedMicrocents: advanced()
    })),
    lockAdvanced: Effect.sync(advanced)
  })
})

const byAge = oldestFirst<Claim>(({ createdAt }) => createdAt)

/**
 * Verifications of providers in memory.
 */
import { DateTime, Effect, Layer, Option } from "effect"
import type { ProviderId } from "../../../domain/shared/Ids.ts"
import {
  type Proof,
  type ProofKind,
  type Verified,
  VerificationStore
} from "../../../domain/trust/VerificationStore.ts"
import { prune } from "../shared/MemoryRows.ts"
import { put } from "../shared/MemoryUnitOfWork.ts"

const HIGHEST_FIRST = ["code", "domain", "email"] as const

export const layer = Layer.sync(VerificationStore, () => {
  const proofs = new Map<string, Proof>()
  const attempts = new Map<string, { readonly since: DateTime.Utc; readonly attempts: number }>()

  const mails = new Map<string, ReadonlyArray<DateTime.Utc>>()

  const find = (providerId: ProviderId, level: ProofKind) =>
    Effect.sync(() => Option.fromUndefinedOr(proofs.get(`${providerId} ${level}`)))

  const verified = (providerId: ProviderId): Verified => {
    for (const level of HIGHEST_FIRST) {
      const at = proofs.get(`${providerId} ${level}`)?.verifiedAt
      if (at !== undefined) return { level, at }
    }
    return { level: "unverified", at: undefined }
  }

  return VerificationStore.of({
    find,
    lock: find,
    put: (proof) => put(proofs, `${proof.providerId} ${proof.level}`, proof),
    remove: (providerId) => prune(proofs, (proof) => proof.providerId === providerId, Number.POSITIVE_INFINITY),
    verified: (providerId) => Effect.sync(() => verified(providerId)),
    levels: (ids) =>
      Effect.sync(
        () => new Map(ids.map((id) => [id, verified(id)] as const).filter(([, { level }]) => level !== "unverified"))
      ),
    due: (before, limit) =>
      Effect.sync(() =>
        [...proofs.values()]
          .filter(
            ({ checkedAt, level, verifiedAt }) =>
              verifiedAt !== undefined &&
              level !== "email" &&
              checkedAt !== undefined &&
              DateTime.isLessThan(checkedAt, before)
          )
          .toSorted((a, b) => a.checkedAt!.epochMilliseconds - b.checkedAt!.epochMilliseconds)
          .slice(0, limit)
      ),
    attempt: Effect.fnUntraced(function* (providerId, kind, now, since) {
      const key = `${providerId} ${kind}`
      const before = attempts.get(key)
      const continues = before !== undefined && DateTime.isGreaterThanOrEqualTo(before.since, since)
      const counted = continues ? { ...before, attempts: before.attempts + 1 } : { since: now, attempts: 1 }
      yield* put(attempts, key, counted)
      return counted.attempts
    }),
    mailed: Effect.fnUntraced(function* (addressHash, now, since, max) {
      const recent = (mails.get(addressHash) ?? []).filter((sent) => DateTime.isGreaterThan(sent, since))
      if (recent.length >= max) return recent.reduce(DateTime.min)
      yield* put(mails, addressHash, [...recent, now])
      return undefined
    }),
    forgetMailed: (before, limit) =>
      prune(mails, (sent) => sent.every((one) => DateTime.isLessThan(one, before)), limit)
  })
})

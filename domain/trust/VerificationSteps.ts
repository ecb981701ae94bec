/**
 * What every kind of verification does: it limits attempts, accepts a token once, and answers with the provider's level.
 */
import { DateTime, Effect, Option, Schema } from "effect"
import type { ProviderId } from "../shared/Ids.ts"
import { isSameText } from "../shared/SameText.ts"
import { UnitOfWork } from "../shared/UnitOfWork.ts"
import type { Challenge } from "./Challenge.ts"
import { SlaStore } from "./SlaStore.ts"
import { type Proof, type ProofKind, type Verified, VerificationStore } from "./VerificationStore.ts"

export const CHECKS_PER_HOUR_MAX = 10
/** Of one provider, for all purposes. */
export const MAILS_PER_HOUR_MAX = 3
export const TOKEN_BYTES = 32

/** Whether the proof was found and, if not, what to publish where. */
export interface VerificationAnswer {
  /** Whether the requested level is verified. */
  readonly verified: boolean
  readonly standing: Verified
  readonly challenge: Challenge | undefined
  readonly message: string
}

/** A provider tries a limited number of times an hour, so that tokens cannot be guessed. */
export class TooManyAttempts extends Schema.TaggedError<TooManyAttempts>()("TooManyAttempts", {
  limit: Schema.Int,
  retryAfterSeconds: Schema.Int
}) {
  override get message() {
    return `At most ${this.limit} attempts an hour.`
  }
}

export const makeVerificationSteps = Effect.gen(function* () {
  const store = yield* VerificationStore
  const slaStore = yield* SlaStore
  const { atomically } = yield* UnitOfWork

  const limited = Effect.fnUntraced(function* (providerId: ProviderId, kind: string, limit: number) {
    const now = yield* DateTime.now
    const attempts = yield* store.attempt(providerId, kind, now, DateTime.subtract(now, { hours: 1 }))
    if (attempts > limit) return yield* new TooManyAttempts({ limit, retryAfterSeconds: 3_600 })
  })

  const answer = Effect.fnUntraced(function* (
    providerId: ProviderId,
    verified: boolean,
    message: string,
    challenge?: Challenge
  ) {
    return { verified, standing: yield* store.verified(providerId), challenge, message }
  })

  /** Once: a second request with the same token finds it used. */
  const accept = Effect.fnUntraced(function* (proof: Proof, hash: string, keepsToken: boolean) {
    const now = yield* DateTime.now
    const current = Option.getOrUndefined(yield* store.lock(proof.providerId, proof.level))
    if (current?.subject !== proof.subject || !isTokenOf(current, hash) || isOver(current, now)) return false
    yield* store.put({
      ...current,
      ...(keepsToken ? {} : { tokenHash: undefined, tokenSealed: undefined }),
      expiresAt: undefined,
      verifiedAt: current.verifiedAt ?? now,
      checkedAt: now,
      missed: 0,
      missingSince: undefined
    })
    yield* slaStore.touch(proof.providerId)
    return true
  }, atomically)

  return { limited, answer, accept }
})

export const anew = (providerId: ProviderId, level: ProofKind, subject: string): Proof => ({
  providerId,
  level,
  subject,
  tokenHash: undefined,
  tokenSealed: undefined,
  expiresAt: undefined,
  verifiedAt: undefined,
  checkedAt: undefined,
  missed: 0,
  missingSince: undefined
})

export const isTokenOf = ({ tokenHash }: Proof, hash: string): boolean =>
  tokenHash !== undefined && isSameText(tokenHash, hash)

export const isOver = ({ expiresAt }: Proof, now: DateTime.Utc): boolean =>
  expiresAt !== undefined && DateTime.isLessThan(expiresAt, now)

/**
 * Verification by a token that the provider publishes: in the DNS, at a well-known path of its domain, or in its repository.
 * The first call returns the challenge; a second call checks it. Valid proofs are checked every day and lapse when they are
 * missing.
 */
import { DateTime, Effect, Option } from "effect"
import { AccountStore } from "../accounts/AccountStore.ts"
import { Digest } from "../shared/Digest.ts"
import { Entropy } from "../shared/Entropy.ts"
import type { ProviderId } from "../shared/Ids.ts"
import { round } from "../shared/Round.ts"
import { Sealer } from "../shared/Sealer.ts"
import { UnitOfWork } from "../shared/UnitOfWork.ts"
import { publication } from "./Challenge.ts"
import { ProofReader } from "./ProofReader.ts"
import { ownsEndpoint, recordName, tokenIn, tokenInRepository } from "./Proofs.ts"
import { SlaStore } from "./SlaStore.ts"
import {
  anew,
  CHECKS_PER_HOUR_MAX,
  isOver,
  isTokenOf,
  makeVerificationSteps,
  TOKEN_BYTES
} from "./VerificationSteps.ts"
import { type Proof, VerificationStore } from "./VerificationStore.ts"

export const PUBLISHED_TOKEN_DAYS = 7
/** A missing proof lapses after this many checks in a row over this many days. */
const MISSED_MAX = 3
const MISSING_DAYS_MIN = 2
const RECHECKED_AT_ONCE_MAX = 50

export const makePublishedVerification = Effect.gen(function* () {
  const store = yield* VerificationStore
  const accounts = yield* AccountStore
  const standings = yield* SlaStore
  const reader = yield* ProofReader
  const entropy = yield* Entropy
  const sealer = yield* Sealer
  const { sha256Hex } = yield* Digest
  const { atomically } = yield* UnitOfWork
  const { accept, answer, limited } = yield* makeVerificationSteps

  /** The open challenge, or a new one. */
  const challengeFor = Effect.fnUntraced(function* (providerId: ProviderId, level: "domain" | "code", subject: string) {
    const now = yield* DateTime.now
    const known = Option.getOrUndefined(yield* store.lock(providerId, level))
    const token =
      known?.tokenSealed === undefined ? undefined : Option.getOrUndefined(sealer.open(known.tokenSealed, CONTEXT))
    const holds = known?.subject === subject && token !== undefined
    if (holds && (known.verifiedAt !== undefined || !isOver(known, now))) {
      return { proof: known, token, isNew: false }
    }
    const fresh = yield* entropy.hex(TOKEN_BYTES)
    const proof: Proof = {
      ...anew(providerId, level, subject),
      tokenHash: sha256Hex(fresh),
      tokenSealed: sealer.seal(fresh, CONTEXT),
      expiresAt: DateTime.add(now, { days: PUBLISHED_TOKEN_DAYS })
    }
    yield* store.put(proof)
    return { proof, token: fresh, isNew: true }
  }, atomically)

  const published = Effect.fnUntraced(function* ({ level, providerId, subject }: Proof) {
    if (level === "code") {
      const text = yield* reader.repositoryFile(subject)
      return [text === undefined ? undefined : tokenInRepository(providerId, text)]
    }
    const records = yield* Effect.result(reader.txt(recordName(subject)))
    const found = records._tag === "Success" ? records.success.map((one) => tokenIn(providerId, one)) : []
    if (found.some((one) => one !== undefined)) return found
    const file = yield* reader.wellKnown(subject)
    if (file !== undefined) return [tokenIn(providerId, file)]
    // A missing file proves nothing while the records cannot be read.
    return records._tag === "Failure" ? yield* records.failure : []
  })

  const byPublication = Effect.fnUntraced(function* (
    providerId: ProviderId,
    level: "domain" | "code",
    subject: string
  ) {
    const { isNew, proof, token } = yield* challengeFor(providerId, level, subject)
    const challenge = publication(proof, token)
    if (proof.verifiedAt !== undefined) return yield* answer(providerId, true, `${subject} is verified.`)
    if (isNew) return yield* answer(providerId, false, "Publish it, then repeat this call.", challenge)
    yield* limited(providerId, `check ${level}`, CHECKS_PER_HOUR_MAX)
    const found = yield* Effect.result(published(proof))
    if (found._tag === "Failure") return yield* answer(providerId, false, found.failure.message, challenge)
    const hashes = found.success.flatMap((one) => (one === undefined ? [] : [sha256Hex(one)]))
    const hash = hashes.find((one) => isTokenOf(proof, one))
    if (hash !== undefined && (yield* accept(proof, hash, true))) {
      return yield* answer(providerId, true, `${subject} is verified.`)
    }
    const why = hashes.length === 0 ? "The proof was not found." : "The published token belongs to another challenge."
    return yield* answer(providerId, false, why, challenge)
  })

  const note = Effect.fnUntraced(function* (proof: Proof, isThere: boolean | undefined) {
    const now = yield* DateTime.now
    const current = Option.getOrUndefined(yield* store.lock(proof.providerId, proof.level))
    if (current?.verifiedAt === undefined || current.subject !== proof.subject) return
    if (isThere === undefined) return yield* store.put({ ...current, checkedAt: now })
    if (isThere) return yield* store.put({ ...current, checkedAt: now, missed: 0, missingSince: undefined })
    const missingSince = current.missingSince ?? now
    const missed = current.missed + 1
    const longEnough = DateTime.isLessThanOrEqualTo(DateTime.add(missingSince, { days: MISSING_DAYS_MIN }), now)
    const lapses = missed >= MISSED_MAX && longEnough
    yield* store.put({ ...current, checkedAt: now, missed, missingSince, ...(lapses ? LAPSED : {}) })
    if (lapses) yield* standings.touch(proof.providerId)
  }, atomically)

  const recheckOne = Effect.fnUntraced(function* (proof: Proof) {
    const provider = Option.getOrUndefined(yield* accounts.findProvider(proof.providerId))
    const moved = proof.level === "domain" && !ownsEndpoint(proof.subject, provider?.endpointUrl ?? "")
    if (moved) return yield* note(proof, false)
    const found = yield* Effect.result(published(proof))
    // A failed read may succeed tomorrow.
    if (found._tag === "Failure") return yield* note(proof, undefined)
    yield* note(
      proof,
      found.success.some((one) => one !== undefined && isTokenOf(proof, sha256Hex(one)))
    )
  })

  const recheck = Effect.gen(function* () {
    const due = yield* store.due(DateTime.subtract(yield* DateTime.now, { days: 1 }), RECHECKED_AT_ONCE_MAX)
    yield* round(due, { failing: "Proofs that could not be checked again", concurrency: 4, work: recheckOne })
    return due.length
  }).pipe(Effect.withSpan("Verification.recheck"))

  return { byPublication, recheck }
})

const CONTEXT = "verification token"

const LAPSED = { verifiedAt: undefined, tokenHash: undefined, tokenSealed: undefined } as const

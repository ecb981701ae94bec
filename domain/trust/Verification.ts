/**
 * Verifies providers: by a token mailed to the mailbox, or published.
 */
import { Context, DateTime, Effect, Layer, Option, Schema } from "effect"
import { AccountStore } from "../accounts/Account.ts"
import { Digest, Entropy, isSameText, Sealer } from "../shared/Cryptography.ts"
import type { ProviderId } from "../shared/Ids.ts"
import { round } from "../shared/Round.ts"
import { type StoreUnavailable, UnitOfWork } from "../shared/StoreUnavailable.ts"
import { inSeconds } from "../shared/Time.ts"
import {
  type Challenge,
  letter,
  MAIL_TOKEN_HOURS,
  ownsEndpoint,
  type Proof,
  type ProofKind,
  type ProofLevel,
  publication,
  recordName,
  repositoryOf,
  tokenIn,
  tokenInRepository,
  VerificationEndpoint,
  VerificationStore,
  type Verified
} from "./Challenge.ts"
import { Mailer, type MailFailed, type MailNotConfigured } from "./Mailer.ts"
import { SlaStore } from "./SlaStore.ts"

/** The place could not be read, which says nothing about the provider. Retry later. */
export class ProofUnreadable extends Schema.TaggedError<ProofUnreadable>()("ProofUnreadable", {
  place: Schema.String,
  problem: Schema.String
}) {
  override get message() {
    return `${this.place} could not be read: ${this.problem}.`
  }
}

/**
 * Port that reads what a provider published on its domain or in its repository. Distinguishes a failed read from a missing
 * proof: only the latter says anything about the provider.
 */
export class ProofReader extends Context.Service<
  ProofReader,
  {
    /** The TXT records of a name; none if the name does not exist. */
    txt(name: string): Effect.Effect<ReadonlyArray<string>, ProofUnreadable>
    /** The well-known file of a domain; undefined if it does not exist. */
    wellKnown(domain: string): Effect.Effect<string | undefined, ProofUnreadable>
    /** `.mcp-billing.json` on the default branch of a repository; undefined if it does not exist. */
    repositoryFile(repositoryUrl: string): Effect.Effect<string | undefined, ProofUnreadable>
  }
>()("agent-tool-billing/domain/trust/ProofReader") {}

// Limits mails per mailbox and day, for all requesters together.

export const MAILS_PER_DAY_MAX = 5
export const MAILED_DAYS_KEPT = 1

/** The service sends one address a limited number of mails a day, for all accounts together. */
export class TooManyMails extends Schema.TaggedError<TooManyMails>()("TooManyMails", {
  retryAfterSeconds: Schema.Int
}) {
  override get message() {
    return `The service sends at most ${MAILS_PER_DAY_MAX} mails to one address in 24 hours. Retry after ${inSeconds(this.retryAfterSeconds)}.`
  }
}

/** The mailbox of an address: without case and `+tag`, and at Gmail without dots. */
export const mailboxOf = (address: string): string => {
  const text = address.trim().toLowerCase()
  const at = text.lastIndexOf("@")
  const domain = text.slice(at + 1).replace(/\.$/u, "")
  const local = text.slice(0, Math.max(0, at)).replace(/(?<=.)\+.*$/su, "")
  return GMAIL.has(domain) ? `${local.replaceAll(".", "")}@gmail.com` : `${local}@${domain}`
}

const GMAIL: ReadonlySet<string> = new Set(["gmail.com", "googlemail.com"])

/** Counts a mail to this address before it is sent. */
export const makeMailLimit = Effect.gen(function* () {
  const store = yield* VerificationStore
  const { sha256Hex } = yield* Digest
  return Effect.fnUntraced(function* (address: string) {
    const now = yield* DateTime.now
    const since = DateTime.subtract(now, { days: 1 })
    const first = yield* store.mailed(sha256Hex(`mail\n${mailboxOf(address)}`), now, since, MAILS_PER_DAY_MAX)
    if (first === undefined) return
    const freeAtMs = DateTime.add(first, { days: 1 }).epochMilliseconds
    const retryAfterSeconds = Math.max(1, Math.ceil((freeAtMs - now.epochMilliseconds) / 1_000))
    return yield* new TooManyMails({ retryAfterSeconds })
  })
})

// Every kind of verification limits attempts, accepts a token once, and answers with the provider's level.

export const CHECKS_PER_HOUR_MAX = 10
export const MAILS_PER_HOUR_MAX = 3
export const TOKEN_BYTES = 32

/** Says whether the proof was found and, if not, what to publish where. */
export interface VerificationAnswer {
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

  /** Works once: a second request with the same token finds it used. */
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

// Verification by a token that the provider publishes: in the DNS, at a well-known path of its domain, or in its repository.
// The first call returns the challenge; a second call checks it. Valid proofs are checked every day and lapse when they are
// missing.

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

/** A provider's request to verify something, or to check it with the mailed token. */
export interface Asked {
  readonly level: ProofLevel
  readonly domain: string | undefined
  readonly repositoryUrl: string | undefined
  readonly token: string | undefined
}

/** The mailbox, domain or repository cannot be verified for this provider. */
export class SubjectRejected extends Schema.TaggedError<SubjectRejected>()("SubjectRejected", {
  field: Schema.Literals(["domain", "repo_url"]),
  why: Schema.String
}) {
  override get message() {
    return this.why
  }
}

export class Verification extends Context.Service<
  Verification,
  {
    verify(
      providerId: ProviderId,
      verification: Asked
    ): Effect.Effect<
      VerificationAnswer,
      SubjectRejected | TooManyAttempts | TooManyMails | MailFailed | MailNotConfigured | StoreUnavailable
    >
    /** Checks published proofs that were not checked for a day; returns how many. */
    readonly recheck: Effect.Effect<number, StoreUnavailable>
  }
>()("agent-tool-billing/domain/trust/Verification") {
  static readonly layer = Layer.effect(
    Verification,
    Effect.gen(function* () {
      const store = yield* VerificationStore
      const accounts = yield* AccountStore
      const mailer = yield* Mailer
      const endpoint = yield* VerificationEndpoint
      const withinMailLimit = yield* makeMailLimit
      const entropy = yield* Entropy
      const { sha256Hex } = yield* Digest
      const { accept, answer, limited } = yield* makeVerificationSteps
      const { byPublication, recheck } = yield* makePublishedVerification

      const byMail = Effect.fnUntraced(function* (providerId: ProviderId, mailbox: string, token: string | undefined) {
        const known = Option.getOrUndefined(yield* store.find(providerId, "email"))
        if (known?.verifiedAt !== undefined && known.subject === mailbox) {
          return yield* answer(providerId, true, `${mailbox} is verified.`)
        }
        if (token !== undefined) {
          yield* limited(providerId, "check email", CHECKS_PER_HOUR_MAX)
          const fits = known !== undefined && (yield* accept({ ...known, subject: mailbox }, sha256Hex(token), false))
          if (fits) return yield* answer(providerId, true, `${mailbox} is verified.`)
          return yield* answer(
            providerId,
            false,
            "This token is wrong or has expired. Send the request without a token to get a new mail."
          )
        }
        yield* limited(providerId, "mail", MAILS_PER_HOUR_MAX)
        yield* withinMailLimit(mailbox)
        const fresh = yield* entropy.hex(TOKEN_BYTES)
        const expiresAt = DateTime.add(yield* DateTime.now, { hours: MAIL_TOKEN_HOURS })
        yield* store.put({ ...anew(providerId, "email", mailbox), tokenHash: sha256Hex(fresh), expiresAt })
        yield* mailer.send({ to: mailbox, subject: "Verify your mailbox", text: letter(fresh, endpoint) })
        const challenge: Challenge = {
          type: "email",
          recordName: mailbox,
          recordValue: "the token in the mail",
          expiresAt,
          instructions: "Repeat this call with the token from the mail as `token`."
        }
        return yield* answer(providerId, false, `A token was mailed to ${mailbox}.`, challenge)
      })

      const verify = Effect.fn("Verification.verify")(function* (providerId: ProviderId, verification: Asked) {
        const provider = Option.getOrThrow(yield* accounts.findProvider(providerId))
        if (verification.level === "email") return yield* byMail(providerId, provider.email, verification.token)
        if (verification.level === "domain") {
          const named = verification.domain ?? URL.parse(provider.endpointUrl)?.hostname ?? ""
          const domain = named.trim().toLowerCase().replace(/\.$/u, "")
          if (ownsEndpoint(domain, provider.endpointUrl)) return yield* byPublication(providerId, "domain", domain)
          const why = `${domain === "" ? "A domain is required: it" : `${domain} is not accepted: the domain`} must be that of your endpoint ${provider.endpointUrl}, or a parent domain that you own.`
          return yield* new SubjectRejected({ field: "domain", why })
        }
        const repository = repositoryOf(verification.repositoryUrl ?? "")
        if (repository !== undefined) return yield* byPublication(providerId, "code", repository)
        const why =
          "`repo_url` must be a repository such as https://github.com/owner/name, on github.com, gitlab.com or bitbucket.org."
        return yield* new SubjectRejected({ field: "repo_url", why })
      })

      return Verification.of({ verify, recheck })
    })
  )
}

/**
 * Verifies providers: by a token mailed to the mailbox, or published.
 */
import { Context, DateTime, Effect, Layer, Option, Schema } from "effect"
import { AccountStore } from "../accounts/AccountStore.ts"
import { Digest } from "../shared/Digest.ts"
import { Entropy } from "../shared/Entropy.ts"
import type { ProviderId } from "../shared/Ids.ts"
import { type Challenge, letter, MAIL_TOKEN_HOURS, VerificationEndpoint } from "./Challenge.ts"
import { Mailer, type MailFailed, type MailNotConfigured } from "./Mailer.ts"
import { makeMailLimit, type TooManyMails } from "./MailLimit.ts"
import { ownsEndpoint, repositoryOf } from "./Proofs.ts"
import { makePublishedVerification } from "./PublishedVerification.ts"
import {
  anew,
  CHECKS_PER_HOUR_MAX,
  MAILS_PER_HOUR_MAX,
  makeVerificationSteps,
  TOKEN_BYTES,
  type TooManyAttempts,
  type VerificationAnswer
} from "./VerificationSteps.ts"
import { type ProofLevel, VerificationStore } from "./VerificationStore.ts"
import type { StoreUnavailable } from "../shared/StoreUnavailable.ts"

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
      asked: Asked
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

      const verify = Effect.fn("Verification.verify")(function* (providerId: ProviderId, asked: Asked) {
        const provider = Option.getOrThrow(yield* accounts.findProvider(providerId))
        if (asked.level === "email") return yield* byMail(providerId, provider.email, asked.token)
        if (asked.level === "domain") {
          const named = asked.domain ?? URL.parse(provider.endpointUrl)?.hostname ?? ""
          const domain = named.trim().toLowerCase().replace(/\.$/u, "")
          if (ownsEndpoint(domain, provider.endpointUrl)) return yield* byPublication(providerId, "domain", domain)
          const why = `${domain === "" ? "A domain is required: it" : `${domain} is not accepted: the domain`} must be that of your endpoint ${provider.endpointUrl}, or a parent domain that you own.`
          return yield* new SubjectRejected({ field: "domain", why })
        }
        const repository = repositoryOf(asked.repositoryUrl ?? "")
        if (repository !== undefined) return yield* byPublication(providerId, "code", repository)
        const why =
          "`repo_url` must be a repository such as https://github.com/owner/name, on github.com, gitlab.com or bitbucket.org."
        return yield* new SubjectRejected({ field: "repo_url", why })
      })

      return Verification.of({ verify, recheck })
    })
  )
}

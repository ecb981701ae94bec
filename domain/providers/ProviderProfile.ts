/**
 * A provider changes its account itself: name, description, endpoint, and its email address, which counts once the new
 * mailbox is proven. A verification stays only while it is of the endpoint and the mailbox that the provider has.
 */
import { Context, DateTime, Effect, Layer, Option, Schema } from "effect"
import { AccountStore, type Provider, type ProviderChange } from "../accounts/Account.ts"
import { type EndpointBlocked, EndpointGuard } from "../accounts/EndpointGuard.ts"
import { ProviderNotFound } from "../accounts/ProviderDirectory.ts"
import { Catalog } from "../catalog/Catalog.ts"
import { ChangeFeed } from "../shared/ChangeFeed.ts"
import { Digest, Entropy } from "../shared/Cryptography.ts"
import type { ProviderId } from "../shared/Ids.ts"
import { type StoreUnavailable, UnitOfWork } from "../shared/StoreUnavailable.ts"
import {
  addressChangedLetter,
  MAIL_TOKEN_HOURS,
  newAddressLetter,
  ownsEndpoint,
  VerificationStore,
  type Verified
} from "../trust/Challenge.ts"
import { Mailer, type MailFailed, type MailNotConfigured } from "../trust/Mailer.ts"
import { SlaStore } from "../trust/SlaStore.ts"
import {
  anew,
  CHECKS_PER_HOUR_MAX,
  isOver,
  isTokenOf,
  MAILS_PER_HOUR_MAX,
  makeMailLimit,
  makeVerificationSteps,
  TOKEN_BYTES,
  type TooManyAttempts,
  type TooManyMails
} from "../trust/Verification.ts"

/** Each new endpoint is asked what it is, wherever it is. */
export const ENDPOINT_CHANGES_PER_HOUR_MAX = 10

/** An address that was requested and is not confirmed yet. */
export interface PendingEmail {
  readonly address: string
  readonly expiresAt: DateTime.Utc
}

/** A provider's account as its owner sees it. */
export interface Profile {
  readonly provider: Provider
  readonly verified: Verified
  readonly pendingEmail: PendingEmail | undefined
}

/** The code does not confirm an address: it is wrong, was used, has expired, or another one was requested since. */
export class EmailTokenRejected extends Schema.TaggedError<EmailTokenRejected>()("EmailTokenRejected", {}) {
  override get message() {
    return "This code is wrong or has expired. Request the address again to get a new mail."
  }
}

export class ProviderProfile extends Context.Service<
  ProviderProfile,
  {
    find(providerId: ProviderId): Effect.Effect<Profile, ProviderNotFound | StoreUnavailable>
    /** Counts a change of the endpoint, before the new one is asked what it is. */
    countEndpointChange(providerId: ProviderId): Effect.Effect<void, TooManyAttempts | StoreUnavailable>
    /** Takes effect on every node within a second. Calls in flight end at the endpoint where they began. */
    change(
      providerId: ProviderId,
      change: Omit<ProviderChange, "email">
    ): Effect.Effect<Profile, EndpointBlocked | ProviderNotFound | StoreUnavailable>
    /** Mails a code to the address. The one that the provider has withdraws the request. */
    requestEmail(
      providerId: ProviderId,
      address: string
    ): Effect.Effect<
      Profile,
      ProviderNotFound | TooManyAttempts | TooManyMails | MailFailed | MailNotConfigured | StoreUnavailable
    >
    /** The address counts from now on, and is verified. The address before is told. */
    confirmEmail(
      providerId: ProviderId,
      token: string
    ): Effect.Effect<Profile, EmailTokenRejected | ProviderNotFound | TooManyAttempts | StoreUnavailable>
  }
>()("agent-tool-billing/domain/providers/ProviderProfile") {
  static readonly layer = Layer.effect(
    ProviderProfile,
    Effect.gen(function* () {
      const accounts = yield* AccountStore
      const catalog = yield* Catalog
      const proofs = yield* VerificationStore
      const standings = yield* SlaStore
      const mailer = yield* Mailer
      const feed = yield* ChangeFeed
      const entropy = yield* Entropy
      const endpoints = yield* EndpointGuard
      const withinMailLimit = yield* makeMailLimit
      const { sha256Hex } = yield* Digest
      const { atomically } = yield* UnitOfWork
      const { limited } = yield* makeVerificationSteps

      const providerOf = Effect.fnUntraced(function* (providerId: ProviderId) {
        const found = yield* accounts.findProvider(providerId)
        // It may have been erased while this request waited for its row.
        if (Option.isNone(found) || Option.isSome(yield* accounts.erasureOf(providerId))) {
          return yield* new ProviderNotFound({ named: providerId })
        }
        return found.value
      })

      const find = Effect.fn("ProviderProfile.find")(function* (providerId: ProviderId) {
        const provider = yield* providerOf(providerId)
        const pending = Option.getOrUndefined(yield* proofs.find(providerId, "new_email"))
        const now = yield* DateTime.now
        return {
          provider,
          verified: yield* proofs.verified(providerId),
          pendingEmail:
            pending?.tokenHash === undefined || pending.expiresAt === undefined || isOver(pending, now)
              ? undefined
              : { address: pending.subject, expiresAt: pending.expiresAt }
        }
      })

      /** The proof, or open challenge, of a domain that the new endpoint is not in. */
      const forgetDomain = Effect.fnUntraced(function* (providerId: ProviderId, endpointUrl: string) {
        const known = Option.getOrUndefined(yield* proofs.lock(providerId, "domain"))
        if (known === undefined || ownsEndpoint(known.subject, endpointUrl)) return
        yield* proofs.put(anew(providerId, "domain", known.subject))
        yield* standings.touch(providerId)
      })

      const write = Effect.fnUntraced(function* (
        before: Provider,
        { description, endpointUrl, name }: Omit<ProviderChange, "email">
      ) {
        const { id } = before
        if (endpointUrl !== undefined) yield* forgetDomain(id, endpointUrl)
        yield* accounts.changeProvider(id, { description, endpointUrl, name })
        const after = yield* providerOf(id)
        if (after.name !== before.name) yield* catalog.renamed(id, after.name)
        yield* feed.publish({ topic: "account", id })
        if (after.endpointUrl !== before.endpointUrl) yield* feed.publish({ topic: "provider", id })
      }, atomically)

      const change = Effect.fn("ProviderProfile.change")(function* (
        providerId: ProviderId,
        changes: Omit<ProviderChange, "email">
      ) {
        const before = yield* providerOf(providerId)
        if (changes.endpointUrl !== undefined && changes.endpointUrl !== before.endpointUrl) {
          yield* endpoints.check(changes.endpointUrl)
        }
        yield* write(before, changes)
        return yield* find(providerId)
      })

      const requestEmail = Effect.fn("ProviderProfile.requestEmail")(function* (
        providerId: ProviderId,
        address: string
      ) {
        const { email } = yield* providerOf(providerId)
        const request = anew(providerId, "new_email", address)
        if (address === email) {
          yield* proofs.put(request)
          return yield* find(providerId)
        }
        yield* limited(providerId, "mail", MAILS_PER_HOUR_MAX)
        yield* withinMailLimit(address)
        const token = yield* entropy.hex(TOKEN_BYTES)
        const expiresAt = DateTime.add(yield* DateTime.now, { hours: MAIL_TOKEN_HOURS })
        yield* proofs.put({ ...request, tokenHash: sha256Hex(token), expiresAt })
        yield* mailer.send({ to: address, subject: "Confirm your email address", text: newAddressLetter(token) })
        return yield* find(providerId)
      })

      /** Works once: a second request with the same token finds it used. Returns the account before and after. */
      const replaceEmail = Effect.fnUntraced(function* (providerId: ProviderId, tokenHash: string) {
        const now = yield* DateTime.now
        const pending = Option.getOrUndefined(yield* proofs.lock(providerId, "new_email"))
        if (pending === undefined || !isTokenOf(pending, tokenHash) || isOver(pending, now)) {
          return yield* new EmailTokenRejected()
        }
        const { subject } = pending
        const former = yield* providerOf(providerId)
        const known = Option.getOrUndefined(yield* proofs.lock(providerId, "email"))
        yield* proofs.put(anew(providerId, "new_email", subject))
        yield* proofs.put({ ...anew(providerId, "email", subject), verifiedAt: now, checkedAt: now })
        yield* accounts.changeProvider(providerId, { email: subject })
        yield* providerOf(providerId)
        yield* standings.touch(providerId)
        yield* feed.publish({ topic: "account", id: providerId })
        return { former, wasVerified: known?.verifiedAt !== undefined && known.subject === former.email }
      }, atomically)

      const confirmEmail = Effect.fn("ProviderProfile.confirmEmail")(function* (providerId: ProviderId, token: string) {
        yield* limited(providerId, "check new email", CHECKS_PER_HOUR_MAX)
        const { former, wasVerified } = yield* replaceEmail(providerId, sha256Hex(token))
        // A mailbox that was never verified may be that of a stranger, who gets no more mail than from others.
        yield* (wasVerified ? Effect.void : withinMailLimit(former.email)).pipe(
          Effect.andThen(
            mailer.send({
              to: former.email,
              subject: "Your email address was changed",
              text: addressChangedLetter(former.handle)
            })
          ),
          Effect.catch(({ message }) =>
            Effect.logWarning("The address before was not told of the change").pipe(
              Effect.annotateLogs({ provider_id: providerId, problem: message })
            )
          )
        )
        return yield* find(providerId)
      })

      return ProviderProfile.of({
        find,
        countEndpointChange: (providerId) => limited(providerId, "change endpoint", ENDPOINT_CHANGES_PER_HOUR_MAX),
        change,
        requestEmail,
        confirmEmail
      })
    })
  )
}

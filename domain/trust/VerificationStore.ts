/**
 * Port to verifications of providers: one of each kind, with its open challenge and the time since which it is valid.
 */
import { Context, type DateTime, type Effect, type Option } from "effect"
import type { ProviderId } from "../shared/Ids.ts"
import type { VerificationLevel } from "./TrustScore.ts"
import type { StoreUnavailable } from "../shared/StoreUnavailable.ts"

/** What a provider can verify: a mailbox, a domain or a repository. */
export type ProofLevel = Exclude<VerificationLevel, "unverified">

/** `new_email`: the mailbox that is to replace the provider's. It counts for nothing before. */
export type ProofKind = ProofLevel | "new_email"

/** What a provider verified or is about to verify at one level. */
export interface Proof {
  readonly providerId: ProviderId
  readonly level: ProofKind
  /** The mailbox, the domain, the repository. */
  readonly subject: string
  /** SHA-256 of the token, hex; undefined once it was used. */
  readonly tokenHash: string | undefined
  /** Allows showing the challenge again; undefined for a mailed token. */
  readonly tokenSealed: string | undefined
  /** Of the challenge. */
  readonly expiresAt: DateTime.Utc | undefined
  readonly verifiedAt: DateTime.Utc | undefined
  readonly checkedAt: DateTime.Utc | undefined
  /** How often in a row it was missing, and since when. */
  readonly missed: number
  readonly missingSince: DateTime.Utc | undefined
}

/** The highest level that a provider has verified, and since when. */
export interface Verified {
  readonly level: VerificationLevel
  readonly at: DateTime.Utc | undefined
}

export class VerificationStore extends Context.Service<
  VerificationStore,
  {
    find(providerId: ProviderId, level: ProofKind): Effect.Effect<Option.Option<Proof>, StoreUnavailable>
    /** Locked until the end of the unit of work. */
    lock(providerId: ProviderId, level: ProofKind): Effect.Effect<Option.Option<Proof>, StoreUnavailable>
    put(proof: Proof): Effect.Effect<void, StoreUnavailable>
    /** All verifications of a provider; returns how many. */
    remove(providerId: ProviderId): Effect.Effect<number, StoreUnavailable>
    verified(providerId: ProviderId): Effect.Effect<Verified, StoreUnavailable>
    levels(providerIds: ReadonlyArray<ProviderId>): Effect.Effect<ReadonlyMap<ProviderId, Verified>, StoreUnavailable>
    /** Valid published proofs last checked before then, oldest first. */
    due(before: DateTime.Utc, limit: number): Effect.Effect<ReadonlyArray<Proof>, StoreUnavailable>
    /** Counts one more attempt of a kind within the time since then; returns the number. */
    attempt(
      providerId: ProviderId,
      kind: string,
      now: DateTime.Utc,
      since: DateTime.Utc
    ): Effect.Effect<number, StoreUnavailable>
    /**
     * Counts one more mail to an address, unless `max` were sent since then: then returns when the first of those was
     * sent. `addressHash`: SHA-256, hex.
     */
    mailed(
      addressHash: string,
      now: DateTime.Utc,
      since: DateTime.Utc,
      max: number
    ): Effect.Effect<DateTime.Utc | undefined, StoreUnavailable>
    /** Removes at most `limit` addresses without a mail since then; returns how many. */
    forgetMailed(before: DateTime.Utc, limit: number): Effect.Effect<number, StoreUnavailable>
  }
>()("agent-tool-billing/domain/trust/VerificationStore") {}

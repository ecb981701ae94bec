/**
 * What proves who a provider is: one proof of each kind, with the challenge that is open and since when it holds.
 */
import { Context, type DateTime, type Effect, type Option } from "effect"
import type { ProviderId } from "../shared/Ids.ts"
import type { VerificationLevel } from "./TrustScore.ts"

export type ProofLevel = Exclude<VerificationLevel, "unverified">

export interface Proof {
  readonly providerId: ProviderId
  readonly level: ProofLevel
  /** The mailbox, the domain, the repository. */
  readonly subject: string
  /** SHA-256 of the token, hex; undefined once it was used up. */
  readonly tokenHash: string | undefined
  /** So that a token that is to be published can be shown again; undefined for one that was mailed. */
  readonly tokenSealed: string | undefined
  /** Of the challenge. */
  readonly expiresAt: DateTime.Utc | undefined
  readonly verifiedAt: DateTime.Utc | undefined
  readonly checkedAt: DateTime.Utc | undefined
  /** How often in a row it was looked for and was not there, and since when. */
  readonly missed: number
  readonly missingSince: DateTime.Utc | undefined
}

/** The highest level that holds. */
export interface Verified {
  readonly level: VerificationLevel
  readonly at: DateTime.Utc | undefined
}

export class VerificationStore extends Context.Service<
  VerificationStore,
  {
    find(providerId: ProviderId, level: ProofLevel): Effect.Effect<Option.Option<Proof>>
    /** Locked until the unit of work around ends. */
    lock(providerId: ProviderId, level: ProofLevel): Effect.Effect<Option.Option<Proof>>
    put(proof: Proof): Effect.Effect<void>
    /** All of a provider's proofs; how many. */
    remove(providerId: ProviderId): Effect.Effect<number>
    verified(providerId: ProviderId): Effect.Effect<Verified>
    levels(providerIds: ReadonlyArray<ProviderId>): Effect.Effect<ReadonlyMap<ProviderId, Verified>>
    /** Published proofs that hold and were last looked at before then, oldest first. */
    due(before: DateTime.Utc, limit: number): Effect.Effect<ReadonlyArray<Proof>>
    /** Counts one more attempt of a kind within the time since then; how many that makes. */
    attempt(providerId: ProviderId, kind: string, now: DateTime.Utc, since: DateTime.Utc): Effect.Effect<number>
    /**
     * Counts one more mail to an address, unless `max` went to it since then: in that case the answer is when the first of
     * those was sent. `addressHash`: SHA-256, hex.
     */
    mailed(
      addressHash: string,
      now: DateTime.Utc,
      since: DateTime.Utc,
      max: number
    ): Effect.Effect<DateTime.Utc | undefined>
    /** Forgets at most `limit` addresses that no mail went to since then; says how many. */
    forgetMailed(before: DateTime.Utc, limit: number): Effect.Effect<number>
  }
>()("agent-tool-billing/domain/trust/VerificationStore") {}

/**
 * Port to disputes. A receipt has at most one that is open or was decided for the filer.
 */
import { Context, type DateTime, type Effect, type Option } from "effect"
import type { ConsumerId, ProviderId } from "../shared/Ids.ts"
import type { Page, PageRequest } from "../shared/Page.ts"
import type { Dispute, DisputeId, DisputeStatus, DisputeTally } from "./Dispute.ts"
import type { ConsumerRulings } from "./ScoredDisputes.ts"
import type { StoreUnavailable } from "../shared/StoreUnavailable.ts"

/** Whose disputes: those about a consumer's calls, or about calls of a provider's tools. */
export type DisputeOwner =
  | { readonly role: "consumer"; readonly ownerId: ConsumerId }
  | { readonly role: "provider"; readonly ownerId: ProviderId }

/** A filer's disputes so far. */
export interface FilerRecord extends DisputeTally {
  /** Since a given time. */
  readonly lately: number
}

export class DisputeStore extends Context.Service<
  DisputeStore,
  {
    /** False if an existing one prevents this one. */
    insert(dispute: Dispute): Effect.Effect<boolean, StoreUnavailable>
    find(id: DisputeId): Effect.Effect<Option.Option<Dispute>, StoreUnavailable>
    /** Locked until the end of the unit of work. */
    lock(id: DisputeId): Effect.Effect<Option.Option<Dispute>, StoreUnavailable>
    /** Status, response, deadline, and decision. */
    update(dispute: Dispute): Effect.Effect<void, StoreUnavailable>
    /** Filed by or against the owner; all without an owner. Newest first. */
    list(
      owner: DisputeOwner | undefined,
      status: DisputeStatus | undefined,
      page: PageRequest
    ): Effect.Effect<Page<Dispute>, StoreUnavailable>
    /** Contested ones, which wait for the operator, earliest deadline first. */
    contested(page: PageRequest): Effect.Effect<Page<Dispute>, StoreUnavailable>
    /** Disputes that may be decided without a person, earliest deadline first: see `automaticDecision`. */
    due(now: DateTime.Utc, limit: number): Effect.Effect<ReadonlyArray<DisputeId>, StoreUnavailable>
    filedBy(owner: DisputeOwner, since: DateTime.Utc): Effect.Effect<FilerRecord, StoreUnavailable>
    /** Erases that party's texts in claims and responses; returns the number of disputes. */
    eraseWords(owner: DisputeOwner): Effect.Effect<number, StoreUnavailable>
    /** Filed by consumers against a provider since then. */
    against(providerId: ProviderId, since: DateTime.Utc): Effect.Effect<DisputeTally, StoreUnavailable>
    /** By consumer: disputes filed since then, refunded or denied, about calls with a cost. */
    rulings(
      providerId: ProviderId,
      since: DateTime.Utc
    ): Effect.Effect<ReadonlyArray<ConsumerRulings>, StoreUnavailable>
  }
>()("agent-tool-billing/domain/trust/DisputeStore") {}

/**
 * Port to disputes. A receipt has at most one that is open or was decided for the filer.
 */
import { Context, type DateTime, type Effect, type Option } from "effect"
import type { ConsumerId, ProviderId } from "../shared/Ids.ts"
import type { Page, PageRequest } from "../shared/Page.ts"
import type { Dispute, DisputeId, DisputeStatus, DisputeTally } from "./Dispute.ts"
import type { ConsumerRulings } from "./ScoredDisputes.ts"

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
    insert(dispute: Dispute): Effect.Effect<boolean>
    find(id: DisputeId): Effect.Effect<Option.Option<Dispute>>
    /** Locked until the end of the unit of work. */
    lock(id: DisputeId): Effect.Effect<Option.Option<Dispute>>
    /** Status, response, deadline, and decision. */
    update(dispute: Dispute): Effect.Effect<void>
    /** Filed by or against the owner; all without an owner. Newest first. */
    list(
      owner: DisputeOwner | undefined,
      status: DisputeStatus | undefined,
      page: PageRequest
    ): Effect.Effect<Page<Dispute>>
    /** Disputes that may be decided without a person, earliest deadline first: see `decidedByItself`. */
    due(now: DateTime.Utc, limit: number): Effect.Effect<ReadonlyArray<DisputeId>>
    filedBy(owner: DisputeOwner, since: DateTime.Utc): Effect.Effect<FilerRecord>
    /** Erases that party's texts in claims and responses; returns the number of disputes. */
    eraseWords(owner: DisputeOwner): Effect.Effect<number>
    /** Filed by consumers against a provider since then. */
    against(providerId: ProviderId, since: DateTime.Utc): Effect.Effect<DisputeTally>
    /** By consumer: disputes filed since then, refunded or denied, about calls with a cost. */
    rulings(providerId: ProviderId, since: DateTime.Utc): Effect.Effect<ReadonlyArray<ConsumerRulings>>
  }
>()("agent-tool-billing/domain/trust/DisputeStore") {}

/**
 * Where disputes are kept. Of a receipt there is at most one that is open or was decided for the filer.
 */
import { Context, type DateTime, type Effect, type Option } from "effect"
import type { ConsumerId, ProviderId } from "../shared/Ids.ts"
import type { Page, PageRequest } from "../shared/Page.ts"
import type { Dispute, DisputeId, DisputeStatus, DisputeTally } from "./Dispute.ts"
import type { ConsumerRulings } from "./ScoredDisputes.ts"

export type DisputeOwner =
  | { readonly role: "consumer"; readonly ownerId: ConsumerId }
  | { readonly role: "provider"; readonly ownerId: ProviderId }

/** What somebody has filed so far. */
export interface FilerRecord extends DisputeTally {
  /** Since a given time. */
  readonly lately: number
}

export class DisputeStore extends Context.Service<
  DisputeStore,
  {
    /** False: there is one already that keeps this one out. */
    insert(dispute: Dispute): Effect.Effect<boolean>
    find(id: DisputeId): Effect.Effect<Option.Option<Dispute>>
    /** Locked until the unit of work around ends. */
    lock(id: DisputeId): Effect.Effect<Option.Option<Dispute>>
    /** Status, answer, the time for a decision, and the decision. */
    update(dispute: Dispute): Effect.Effect<void>
    /** Filed by it or against it; without an owner everybody's. Newest first. */
    list(
      owner: DisputeOwner | undefined,
      status: DisputeStatus | undefined,
      page: PageRequest
    ): Effect.Effect<Page<Dispute>>
    /** Those that may decide themselves, the one whose time ended first at the front: see `decidedByItself`. */
    due(now: DateTime.Utc, limit: number): Effect.Effect<ReadonlyArray<DisputeId>>
    filedBy(owner: DisputeOwner, since: DateTime.Utc): Effect.Effect<FilerRecord>
    /** What that party has said itself, in claims and answers, becomes nothing; of how many disputes. */
    eraseWords(owner: DisputeOwner): Effect.Effect<number>
    /** Filed by consumers against a provider since then. */
    against(providerId: ProviderId, since: DateTime.Utc): Effect.Effect<DisputeTally>
    /** Of the disputes filed since then that were refunded or denied, about calls that cost something: by consumer. */
    rulings(providerId: ProviderId, since: DateTime.Utc): Effect.Effect<ReadonlyArray<ConsumerRulings>>
  }
>()("agent-tool-billing/domain/trust/DisputeStore") {}

/**
 * Port to disputes. A receipt has at most one that is open or was decided for the filer.
 */
import { Context, DateTime, type Effect, type Option, Schema } from "effect"
import type { CallCause, ReceiptStatus } from "../receipts/Receipts.ts"
import { type ConsumerId, type ProviderId, type ReceiptId, Uuid } from "../shared/Ids.ts"
import type { Microcents } from "../shared/Microcents.ts"
import type { Page, PageRequest } from "../shared/Page.ts"
import type { StoreUnavailable } from "../shared/StoreUnavailable.ts"
import type { ConsumerRulings } from "./PaidCalls.ts"

/** Identifies a dispute. It is a UUID. */
export const DisputeId = Uuid.pipe(Schema.brand("DisputeId"))
export type DisputeId = typeof DisputeId.Type

export const DisputeReason = Schema.Literals(["tool_error", "overcharge", "timeout", "quality", "other"])
export type DisputeReason = typeof DisputeReason.Type

/** A dispute can end so: the whole cost is refunded, a part is credited, or nothing. */
export const Resolution = Schema.Literals(["resolved_refund", "resolved_denied", "resolved_credit"])
export type Resolution = typeof Resolution.Type

/** The progress of a dispute: filed, under review after it was contested, or decided. */
export const DisputeStatus = Schema.Literals(["filed", "under_review", ...Resolution.literals])
export type DisputeStatus = typeof DisputeStatus.Type

/**
 * The one who decided: the receipt, the provider by accepting, its silence, the operator, the operator's silence, or
 * the bank with a chargeback of the payment.
 */
export const DecidedBy = Schema.Literals([
  "evidence",
  "provider",
  "deadline",
  "operator",
  "operator_deadline",
  "chargeback"
])
export type DecidedBy = typeof DecidedBy.Type

/** The consumer of a call is its `agent`. */
export const Party = Schema.Literals(["agent", "provider"])
export type Party = typeof Party.Type

/** A party's statement: text, and an object as JSON text. */
export interface Statement {
  readonly text: string | undefined
  readonly evidence: string | undefined
}

/** The statement of the filer, with its own reference, such as the ticket of its tracker. Both parties see it. */
export interface Claim extends Statement {
  readonly reference: string | undefined
}

export interface Decision {
  readonly by: DecidedBy
  readonly amount: Microcents
  /** The part that was available at the decision; the rest is a claim. */
  readonly refunded: Microcents
  readonly note: string | undefined
  readonly at: DateTime.Utc
}

/** A dispute about one receipt, from filing to decision. Two parties, and one amount: what the call cost. */
export interface Dispute {
  readonly id: DisputeId
  readonly receiptId: ReceiptId
  readonly consumerId: ConsumerId
  readonly providerId: ProviderId
  readonly cost: Microcents
  readonly fee: Microcents
  /** The settlement day of the call, which identifies the lot of its earnings. */
  readonly lot: string
  /** The call's own earnings, as far as they existed at the filing: frozen until the decision. */
  readonly frozen: Microcents
  /** The outcome according to the receipt. */
  readonly outcome: ReceiptStatus
  /** The cause of a call that ended in `error` because of its caller: no evidence against the provider. */
  readonly cause: CallCause | undefined
  /** Its output did not match the tool's output schema. */
  readonly unfit: boolean
  readonly reason: DisputeReason
  readonly filedBy: Party
  readonly claim: Claim
  readonly answer: (Statement & { readonly at: DateTime.Utc }) | undefined
  readonly status: DisputeStatus
  readonly decision: Decision | undefined
  readonly createdAt: DateTime.Utc
  /** The provider's deadline; after it its silence decides. */
  readonly respondBy: DateTime.Utc
  /** The operator's deadline for a contested dispute; after it the filer wins. */
  readonly decideBy: DateTime.Utc | undefined
}

export const isOpen = ({ status }: Pick<Dispute, "status">): boolean => status === "filed" || status === "under_review"

export const isPastDecision = ({ decideBy, status }: Dispute, now: DateTime.Utc): boolean =>
  status === "under_review" && decideBy !== undefined && DateTime.isLessThan(decideBy, now)

/** A failure of the provider, according to the receipt. */
export const isFailed = ({ cause, outcome }: Pick<Dispute, "cause" | "outcome">): boolean =>
  cause === undefined && (outcome === "error" || outcome === "timeout")

/**
 * The decision that needs no person, if there is one: by the receipt, an invalid output, the provider's own response,
 * or a missed deadline. A party that misses its deadline does not delay the money of others.
 */
export const automaticDecision = (dispute: Dispute, now: DateTime.Utc): DecidedBy | undefined => {
  if (isPastDecision(dispute, now)) return "operator_deadline"
  if (dispute.status !== "filed") return undefined
  if (dispute.filedBy === "provider") return "provider"
  if (dispute.cost > 0n && (dispute.unfit || isFailed(dispute))) return "evidence"
  return DateTime.isLessThan(dispute.respondBy, now) ? "deadline" : undefined
}

/** The number of disputes that one party filed, or one provider had against it, by their result. */
export interface DisputeTally {
  readonly total: number
  readonly open: number
  /** Refunded: the provider was at fault. */
  readonly upheld: number
  readonly denied: number
  /** Paid by the platform, without fault. */
  readonly credited: number
}

/** The owner of disputes: they are about a consumer's calls, or about calls of a provider's tools. */
export type DisputeOwner =
  | { readonly role: "consumer"; readonly ownerId: ConsumerId }
  | { readonly role: "provider"; readonly ownerId: ProviderId }

/** A filer's disputes so far. */
export interface FilerRecord extends DisputeTally {
  /** The disputes since a given time. */
  readonly lastDay: number
}

export class DisputeStore extends Context.Service<
  DisputeStore,
  {
    /** False if an existing one prevents this one. */
    insert(dispute: Dispute): Effect.Effect<boolean, StoreUnavailable>
    find(id: DisputeId): Effect.Effect<Option.Option<Dispute>, StoreUnavailable>
    /** Locks it until the end of the unit of work. */
    lock(id: DisputeId): Effect.Effect<Option.Option<Dispute>, StoreUnavailable>
    /** Updates status, response, deadline and decision. */
    update(dispute: Dispute): Effect.Effect<void, StoreUnavailable>
    /** Lists those filed by or against the owner; all without an owner. Newest first. */
    list(
      owner: DisputeOwner | undefined,
      status: DisputeStatus | undefined,
      page: PageRequest
    ): Effect.Effect<Page<Dispute>, StoreUnavailable>
    /** Lists contested ones, which wait for the operator, earliest deadline first. */
    contested(page: PageRequest): Effect.Effect<Page<Dispute>, StoreUnavailable>
    /** Disputes that may be decided without a person, earliest deadline first: see `automaticDecision`. */
    due(now: DateTime.Utc, limit: number): Effect.Effect<ReadonlyArray<DisputeId>, StoreUnavailable>
    filedBy(owner: DisputeOwner, since: DateTime.Utc): Effect.Effect<FilerRecord, StoreUnavailable>
    /** Erases that party's texts in claims and responses; returns the number of disputes. */
    eraseStatements(owner: DisputeOwner): Effect.Effect<number, StoreUnavailable>
    /** Counts those that consumers filed against a provider since then. */
    against(providerId: ProviderId, since: DateTime.Utc): Effect.Effect<DisputeTally, StoreUnavailable>
    /** Returns for each consumer the disputes filed since then, refunded or denied, about calls with a cost. */
    rulings(
      providerId: ProviderId,
      since: DateTime.Utc
    ): Effect.Effect<ReadonlyArray<ConsumerRulings>, StoreUnavailable>
  }
>()("agent-tool-billing/domain/trust/DisputeStore") {}

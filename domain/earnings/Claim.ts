/**
 * The part of a refund that could not be paid when it was decided. A provider's claims are paid oldest first, from its
 * next earnings; the platform's part of the fee, from its next funds.
 */
import { type DateTime, Schema } from "effect"
import { type ConsumerId, type ProviderId, Uuid } from "../shared/Ids.ts"
import type { Microcents } from "../shared/Microcents.ts"

/** Identifies a claim. It is a UUID. */
export const ClaimId = Uuid.pipe(Schema.brand("ClaimId"))
export type ClaimId = typeof ClaimId.Type

export interface Claim {
  readonly id: ClaimId
  /** The id of a dispute. */
  readonly subject: string
  /** The provider that owes it; undefined: the platform. */
  readonly debtor: ProviderId | undefined
  /** The consumer that it is owed to; undefined: the platform, which advanced the money. */
  readonly creditor: ConsumerId | undefined
  readonly amount: Microcents
  /** The part of the amount that was spent from credit, and is credit again. It is paid last. */
  readonly credit: Microcents
  readonly paid: Microcents
  readonly createdAt: DateTime.Utc
}

export const outstandingOf = ({ amount, paid }: Pick<Claim, "amount" | "paid">): bigint => amount - paid

/**
 * Who may file a dispute: only a party of the call, in time, once, and within limits.
 */
import { DateTime, Schema } from "effect"
import type { Receipt } from "../receipts/Receipt.ts"
import type { Party } from "./Dispute.ts"
import type { DisputeOwner, FilerRecord } from "./DisputeStore.ts"

export const FILING_DAYS_MAX = 30
export const ANSWER_DAYS = 7
/** Of the operator, from the day on which the provider contested. */
export const DECISION_DAYS = 30
export const FILED_PER_DAY_MAX = 20
/** From this many decided disputes on, a filer who lost most of them may have fewer open at once. */
export const RECORD_COUNTS_FROM = 10
export const OPEN_WITH_BAD_RECORD_MAX = 5

/** The caller is neither the consumer nor the provider of the call. */
export class NotAParty extends Schema.TaggedError<NotAParty>()("NotAParty", { receiptId: Schema.String }) {
  override get message() {
    return `Receipt ${this.receiptId} can be disputed only by its consumer or its provider.`
  }
}

/** A call can be disputed for a limited time, while the provider's money can still be frozen. */
export class FilingTooLate extends Schema.TaggedError<FilingTooLate>()("FilingTooLate", { calledAt: Schema.String }) {
  override get message() {
    return `A call can be disputed for ${FILING_DAYS_MAX} days; this one was made at ${this.calledAt}.`
  }
}

/** A receipt has one open dispute, and none after a decision for its filer. */
export class AlreadyDisputed extends Schema.TaggedError<AlreadyDisputed>()("AlreadyDisputed", {
  receiptId: Schema.String
}) {
  override get message() {
    return `Receipt ${this.receiptId} already has a dispute that is open or was decided for its filer.`
  }
}

/** The account filed the maximum of one day or, after many denied ones, has the maximum open. */
export class TooManyDisputes extends Schema.TaggedError<TooManyDisputes>()("TooManyDisputes", {
  limit: Schema.Literals(["a_day", "open"]),
  retryAfterSeconds: Schema.Int
}) {
  override get message() {
    return this.limit === "a_day"
      ? `An account files at most ${FILED_PER_DAY_MAX} disputes a day.`
      : `Most of your decided disputes were denied: at most ${OPEN_WITH_BAD_RECORD_MAX} can be open at once.`
  }
}

/** The role of this owner in the receipt. */
export const partyTo = (receipt: Receipt, owner: DisputeOwner): Party | undefined => {
  if (owner.role === "consumer") return receipt.agent_id === owner.ownerId ? "agent" : undefined
  return receipt.provider_id === owner.ownerId ? "provider" : undefined
}

export const isInTime = (receipt: Receipt, now: DateTime.Utc): boolean =>
  DateTime.isLessThanOrEqualTo(now, DateTime.addDuration(DateTime.makeUnsafe(receipt.timestamp), DAYS_30))

const DAYS_30 = `${FILING_DAYS_MAX} days` as const
const DAY_SECONDS = 86_400

export const limitOf = (record: FilerRecord): TooManyDisputes | undefined => {
  if (record.lately >= FILED_PER_DAY_MAX) return new TooManyDisputes({ limit: "a_day", retryAfterSeconds: DAY_SECONDS })
  const decided = record.total - record.open
  const mostlyDenied = decided >= RECORD_COUNTS_FROM && record.denied * 2 > decided
  return mostlyDenied && record.open >= OPEN_WITH_BAD_RECORD_MAX
    ? new TooManyDisputes({ limit: "open", retryAfterSeconds: DAY_SECONDS })
    : undefined
}

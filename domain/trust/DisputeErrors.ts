/**
 * Why a dispute cannot be filed, answered or decided.
 */
import { Schema } from "effect"

/** A dispute is about a receipt, and none has this id. */
export class NoSuchReceipt extends Schema.TaggedError<NoSuchReceipt>()("NoSuchReceipt", { receiptId: Schema.String }) {
  override get message() {
    return `Receipt ${this.receiptId} does not exist.`
  }
}

/** No such dispute, or the caller is not a party to it. */
export class DisputeNotFound extends Schema.TaggedError<DisputeNotFound>()("DisputeNotFound", {
  disputeId: Schema.String
}) {
  override get message() {
    return `Dispute ${this.disputeId} does not exist.`
  }
}

/** The provider already answered, or the dispute is decided. */
export class NotAnswerable extends Schema.TaggedError<NotAnswerable>()("NotAnswerable", { status: Schema.String }) {
  override get message() {
    return `This dispute is ${this.status} and can no longer be answered.`
  }
}

/** A dispute is decided once. The decision stands. */
export class AlreadyDecided extends Schema.TaggedError<AlreadyDecided>()("AlreadyDecided", { status: Schema.String }) {
  override get message() {
    return `This dispute is ${this.status}: it is decided already.`
  }
}

/** A dispute refunds at most what the call cost. */
export class CreditBeyondCost extends Schema.TaggedError<CreditBeyondCost>()("CreditBeyondCost", {
  costMicrocents: Schema.BigInt
}) {
  override get message() {
    return `A credit is 1 to ${this.costMicrocents} microcents, the cost of the call.`
  }
}

/**
 * Why a dispute cannot be filed, answered or decided.
 */
import { Schema } from "effect"

export class NoSuchReceipt extends Schema.TaggedError<NoSuchReceipt>()("NoSuchReceipt", { receiptId: Schema.String }) {
  override get message() {
    return `There is no receipt ${this.receiptId}.`
  }
}

export class DisputeNotFound extends Schema.TaggedError<DisputeNotFound>()("DisputeNotFound", {
  disputeId: Schema.String
}) {
  override get message() {
    return `There is no dispute ${this.disputeId}.`
  }
}

export class NotToAnswer extends Schema.TaggedError<NotToAnswer>()("NotToAnswer", { status: Schema.String }) {
  override get message() {
    return `This dispute is ${this.status}: it takes no answer any more.`
  }
}

export class AlreadyDecided extends Schema.TaggedError<AlreadyDecided>()("AlreadyDecided", { status: Schema.String }) {
  override get message() {
    return `This dispute is ${this.status}: a decision stands.`
  }
}

export class CreditBeyondCost extends Schema.TaggedError<CreditBeyondCost>()("CreditBeyondCost", {
  costMicrocents: Schema.BigInt
}) {
  override get message() {
    return `A credit is at least 1 and at most what the call cost: ${this.costMicrocents} microcents.`
  }
}

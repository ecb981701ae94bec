/**
 * Why an account cannot be erased yet.
 */
import { Schema } from "effect"

/** Neither a consumer nor a provider has this id. Nothing was changed. */
export class AccountNotFound extends Schema.TaggedError<AccountNotFound>()("AccountNotFound", {
  ownerId: Schema.String
}) {
  override get message() {
    return `Account ${this.ownerId} does not exist. Nothing was changed.`
  }
}

/** Operations in progress that an erasure would disturb. */
export class MoneyInTransit extends Schema.TaggedError<MoneyInTransit>()("MoneyInTransit", {
  ownerId: Schema.String,
  what: Schema.Array(Schema.String)
}) {
  override get message() {
    return `Account ${this.ownerId} has ${this.what.join(", ")}. Nothing was changed. Retry when these have ended.`
  }
}

/** The account has a balance or a debt, so it was not erased. `leaveMoney` accepts that. */
export class MoneyRemaining extends Schema.TaggedError<MoneyRemaining>()("MoneyRemaining", {
  ownerId: Schema.String,
  leftMicrocents: Schema.BigInt
}) {
  override get message() {
    const amount = `${this.leftMicrocents < 0n ? -this.leftMicrocents : this.leftMicrocents} microcents`
    const standing =
      this.leftMicrocents > 0n
        ? `still has ${amount}. Refund or pay them out first`
        : `still owes ${amount}. Collect them first`
    return (
      `Account ${this.ownerId} ${standing}, or erase it with --leave-money: ` +
      "the amount then stays in the ledger, under an account without a name. Nothing was changed."
    )
  }
}

/**
 * Why an account cannot be erased yet.
 */
import { Schema } from "effect"

export class AccountNotFound extends Schema.TaggedError<AccountNotFound>()("AccountNotFound", {
  ownerId: Schema.String
}) {
  override get message() {
    return `There is no account ${this.ownerId}. Nothing was changed.`
  }
}

/** Operations in progress that an erasure would disturb. */
export class MoneyUnderWay extends Schema.TaggedError<MoneyUnderWay>()("MoneyUnderWay", {
  ownerId: Schema.String,
  what: Schema.Array(Schema.String)
}) {
  override get message() {
    return (
      `Account ${this.ownerId} has ${this.what.join(", ")}. Nothing was changed: wait until that has ended, ` +
      "or end it, and try again."
    )
  }
}

export class MoneyLeft extends Schema.TaggedError<MoneyLeft>()("MoneyLeft", {
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
      "then the amount stays in the books as it is, under an account without a name. Nothing was changed."
    )
  }
}

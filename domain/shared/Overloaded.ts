/**
 * A defect, not a domain error: a part has more to do than its queue holds. Nothing was done; retry later.
 */
import { Schema } from "effect"

export class Overloaded extends Schema.TaggedError<Overloaded>()("Overloaded", {
  part: Schema.String,
  waiting: Schema.Int
}) {
  override get message() {
    return `${this.part} has ${this.waiting} waiting requests, which is its limit. Retry later.`
  }
}

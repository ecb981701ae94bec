/**
 * A defect, not an answer of the domain: a part has more to do than it can hold. Nothing was done; try again later.
 */
import { Schema } from "effect"

export class Overloaded extends Schema.TaggedError<Overloaded>()("Overloaded", {
  part: Schema.String,
  waiting: Schema.Int
}) {
  override get message() {
    return `${this.part} has ${this.waiting} requests waiting and takes no more for now.`
  }
}

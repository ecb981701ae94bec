/**
 * A part of the service that does not work, with the reason for operators.
 */
import { Schema } from "effect"

export class PartDown extends Schema.TaggedError<PartDown>()("PartDown", { problem: Schema.String }) {
  override get message() {
    return this.problem
  }
}

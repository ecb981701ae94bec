/**
 * A violated rule.
 */
import { Cause, Schema } from "effect"

export class Violation extends Schema.TaggedError<Violation>()("Violation", {
  rule: Schema.String,
  detail: Schema.String
}) {
  override get message(): string {
    return `${this.rule}: ${this.detail}`
  }
}

/** What went wrong in something that was in progress. */
export const violationIn = (cause: Cause.Cause<Violation>): Violation => {
  const error = Cause.squash(cause)
  return error instanceof Violation ? error : new Violation({ rule: "no defect", detail: Cause.pretty(cause) })
}

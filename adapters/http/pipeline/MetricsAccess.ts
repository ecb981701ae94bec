/**
 * Who may read the metrics of a node. Without a setting no client may.
 */
import { Context, Effect, Redacted, Schema } from "effect"
import { isSameText } from "../../../domain/shared/Cryptography.ts"

/** `closed`: no client may read them until a token is configured. */
export type MetricsAccess = "open" | "closed" | Redacted.Redacted

export const MetricsAccess = Context.Reference<MetricsAccess>("agent-tool-billing/adapters/http/MetricsAccess", {
  defaultValue: () => "closed"
})

export class MetricsRejected extends Schema.TaggedError<MetricsRejected>()("MetricsRejected", {
  hasToken: Schema.Boolean
}) {
  override get message() {
    return this.hasToken
      ? "Send Authorization: Bearer <METRICS_TOKEN>."
      : "These metrics are closed until the operator configures METRICS_TOKEN."
  }
}

export const admit = (access: MetricsAccess, given: string): Effect.Effect<void, MetricsRejected> => {
  if (access === "open") return Effect.void
  if (access === "closed") return Effect.fail(new MetricsRejected({ hasToken: false }))
  return isSameText(given, Redacted.value(access)) ? Effect.void : Effect.fail(new MetricsRejected({ hasToken: true }))
}

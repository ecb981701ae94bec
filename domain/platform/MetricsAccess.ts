/**
 * Who may read the figures of a node. Everybody unless configuration says otherwise: a program that embeds the service
 * decides itself what stands in front of it.
 */
import { Context, Effect, Redacted, Schema } from "effect"
import { isSameText } from "../shared/SameText.ts"

/** Closed: to everybody, until there is a token. */
export type MetricsAccess = "open" | "closed" | Redacted.Redacted

export const MetricsAccess = Context.Reference<MetricsAccess>("agent-tool-billing/domain/platform/MetricsAccess", {
  defaultValue: () => "open"
})

export class MetricsRefused extends Schema.TaggedError<MetricsRefused>()("MetricsRefused", {
  hasToken: Schema.Boolean
}) {
  override get message() {
    return this.hasToken
      ? "Send Authorization: Bearer <METRICS_TOKEN>."
      : "These figures are closed until the operator configures METRICS_TOKEN."
  }
}

export const admit = (access: MetricsAccess, given: string): Effect.Effect<void, MetricsRefused> => {
  if (access === "open") return Effect.void
  if (access === "closed") return Effect.fail(new MetricsRefused({ hasToken: false }))
  return isSameText(given, Redacted.value(access)) ? Effect.void : Effect.fail(new MetricsRefused({ hasToken: true }))
}

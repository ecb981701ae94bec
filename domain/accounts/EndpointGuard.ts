/**
 * Checks at registration whether a provider's endpoint may be called, so that the provider learns it at once. The guard
 * in front of every connection stays authoritative.
 */
import { Context, Effect, Schema } from "effect"

export class EndpointBlocked extends Schema.TaggedError<EndpointBlocked>()("EndpointBlocked", {
  hostname: Schema.String
}) {
  override get message() {
    return `endpoint_url: ${this.hostname} has an address that this service may not call. Give an address that the public internet reaches.`
  }
}

export interface EndpointGuard {
  /** Accepts a name without an address: it may have one when it is called, and is checked then. */
  check(url: string): Effect.Effect<void, EndpointBlocked>
}

export const EndpointGuard = Context.Reference<EndpointGuard>("agent-tool-billing/domain/accounts/EndpointGuard", {
  defaultValue: () => ({ check: () => Effect.void })
})

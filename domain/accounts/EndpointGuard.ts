/**
 * Checks at registration whether a provider's endpoint may be called, so that the provider learns it at once. The guard
 * in front of every connection stays authoritative.
 */
import { Context, Effect, Schema } from "effect"

/** A provider's endpoint resolves to an address that the egress policy blocks. */
export class EndpointBlocked extends Schema.TaggedError<EndpointBlocked>()("EndpointBlocked", {
  hostname: Schema.String
}) {
  override get message() {
    return `endpoint_url: ${this.hostname} resolves to an address that this service does not call. Use a public address.`
  }
}

export interface EndpointGuard {
  /** Accepts a name without an address: it may have one when it is called, and is checked then. */
  check(url: string): Effect.Effect<void, EndpointBlocked>
}

/** The guard that registrations ask. Default: every endpoint passes. */
export const EndpointGuard = Context.Reference<EndpointGuard>("agent-tool-billing/domain/accounts/EndpointGuard", {
  defaultValue: () => ({ check: () => Effect.void })
})
